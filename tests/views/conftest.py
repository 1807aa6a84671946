"""The people who visit the pages."""

from tests.visitors import _static_root, ana, page, scripted, stranger

__all__ = ["_static_root", "ana", "page", "scripted", "stranger"]
