"""Pages are sent compressed; a stream never is, and files are by whoever serves them.

Takes a response, gives it as gzip where the browser takes that. Only HTML: that is what is large here, and what a reply's
frames are made of must leave the server at once. Django adds a random number of bytes to each, and masks its token anew on
each page, so that lengths tell nobody what stands in one (BREACH).
"""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class CompressPages(GZipMiddleware):
    """Django's, for pages alone."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.streaming or not response.get("Content-Type", "").startswith("text/html"):
            return response
        return super().process_response(request, response)
