"""Conversations from files: what a file says (pure), and how it becomes rows (once, whole or not at all)."""
