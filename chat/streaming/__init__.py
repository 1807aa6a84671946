"""The pure streaming core: bytes of a provider in, released text and one reading out.

Takes bytes, text and numbers as arguments; gives values. Knows no Django, no sockets, no event loop, no clock
and no random. Read `pipeline.py` first.
"""
