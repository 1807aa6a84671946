"""Thin shells: a request becomes a verb, a row becomes a page."""
