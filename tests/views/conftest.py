"""The people who visit the pages."""

from tests.visitors import ana, page, scripted, stranger

__all__ = ["ana", "page", "scripted", "stranger"]
