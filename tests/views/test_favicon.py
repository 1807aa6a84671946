"""No page, with or without an icon of its own, leaves a 404 in a console."""

from django.test import Client


def test_browsers_find_the_icon_where_they_look_for_it(client: Client, db: None) -> None:
    """Also somebody who is not signed in, and for a day without asking again."""
    response = client.get("/favicon.ico")
    assert (response.status_code, response.headers["Location"]) == (302, "/static/chat/favicon.svg")
    assert response.headers["Cache-Control"] == "public, max-age=86400"


def test_a_telephone_can_install_it(client: Client, db: None) -> None:
    """Its icons are there under the names that the manifest gives."""
    response = client.get("/manifest.webmanifest")
    body = response.json()
    assert response.headers["Content-Type"] == "application/manifest+json"
    assert (body["start_url"], body["scope"], body["display"]) == ("/", "/", "standalone")
    assert [icon["src"] for icon in body["icons"]] == [
        "/static/chat/icons/icon-192.png",
        "/static/chat/icons/icon-512.png",
        "/static/chat/icons/icon-512.png",
    ]
