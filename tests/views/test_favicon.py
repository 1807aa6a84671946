"""No page, with or without an icon of its own, leaves a 404 in a console."""

from django.test import Client


def test_browsers_find_the_icon_where_they_look_for_it(client: Client, db: None) -> None:
    """Also somebody who is not signed in, and for a day without asking again."""
    response = client.get("/favicon.ico")
    assert (response.status_code, response.headers["Location"]) == (302, "/static/chat/favicon.svg")
    assert response.headers["Cache-Control"] == "public, max-age=86400"
