"""Markdown to HTML that is safe to put on a page, in bounded time whatever the text: `render`."""

from chat.rendering.document import render as render
