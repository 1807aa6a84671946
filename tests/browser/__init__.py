"""Walks through the pages with a real Chromium, against the real server in a process of its own.

A package, so that the browser lives exactly as long as its tests: while it is open, no other event loop can run in the
thread of the tests.
"""
