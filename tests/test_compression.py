"""A page is sent small; a stream of events is sent at once, as it is."""

import gzip

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from chat.compression import CompressPages

TEXT = b"<p>Two to three minutes.</p>" * 100


def answered(response: HttpResponseBase, *, takes: str = "gzip, deflate, br") -> HttpResponseBase:
    request = HttpRequest()
    request.META["HTTP_ACCEPT_ENCODING"] = takes
    return CompressPages(lambda _: response).process_response(request, response)


def test_a_page_is_compressed_for_who_takes_that() -> None:
    response = answered(HttpResponse(TEXT))
    assert isinstance(response, HttpResponse)
    assert response.headers["Content-Encoding"] == "gzip"
    assert len(response.content) < len(TEXT) / 5
    assert gzip.decompress(response.content) == TEXT
    plain = answered(HttpResponse(TEXT), takes="identity")
    assert isinstance(plain, HttpResponse)
    assert (plain.content, "Content-Encoding" in plain.headers) == (TEXT, False)


def test_events_and_data_are_left_as_they_are() -> None:
    """What is held back until enough has come together would be no draft."""
    for response in (
        StreamingHttpResponse([TEXT], content_type="text/event-stream"),
        StreamingHttpResponse([TEXT], content_type="text/html"),
        HttpResponse(TEXT, content_type="application/json"),
    ):
        assert "Content-Encoding" not in answered(response).headers
