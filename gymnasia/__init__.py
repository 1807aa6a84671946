"""Wiring only: settings, addresses and the ASGI application. Everything that thinks lives in `chat`."""
