"""Gymnasia's chat: a streamed draft is never mistaken for an answer.

Read `chat/streaming/pipeline.py` first, then `docs/walk.md`. Floors import downwards only; see `docs/decisions/`.
"""
