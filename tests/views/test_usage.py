"""The page of what was used: numbers as people write them, a price only where there is one."""

from decimal import Decimal

from django.contrib.auth.models import User
from django.test import Client

from chat.models import Generation
from chat.streaming.deltas import Usage
from tests.rows import ended, reading, sent


def test_nothing_yet(page: Client) -> None:
    assert "Nothing has been asked yet." in page.get("/usage/").content.decode()


def test_a_month(page: Client, ana: User) -> None:
    ended(sent(ana), reading(usage=Usage(12_345, 678)))
    html = page.get("/usage/").content.decode()
    assert ("Scripted One" in html, "12,345" in html, "678" in html, "No price list" in html) == (True,) * 4
    Generation.objects.update(price_usd=Decimal("0.0321"))
    html = page.get("/usage/").content.decode()
    assert ("US$ 0.03" in html, "No price list" in html) == (True, False)


def test_it_is_the_persons_own(stranger: Client, ana: User) -> None:
    ended(sent(ana), reading())
    assert "Scripted One" not in stranger.get("/usage/").content.decode()
    assert Client().get("/usage/").status_code == 302
