"""The list of shortcuts: the same on its page and in the dialog, and the keys that the script knows."""

import re
from pathlib import Path

from django.test import Client

from chat.views.shortcuts import SHORTCUTS

KEYS = Path(__file__).parents[2] / "chat" / "static" / "chat" / "js" / "keys.js"


def rows(page: str) -> list[str]:
    return re.findall(r"<dt>(.*?)</dt>", page)


def test_the_page_and_the_dialog_show_the_same(client: Client, page: Client) -> None:
    says = [str(each.says) for each in SHORTCUTS]
    assert rows(client.get("/shortcuts/").content.decode()) == says
    assert rows(page.get("/").content.decode()) == says


def test_the_script_knows_every_action_and_no_other() -> None:
    """A key that is listed and does nothing is worse than none."""
    listed = {each.action for each in SHORTCUTS if each.action}
    [typedef] = re.findall(r"@typedef \{(.*?)\} Action", KEYS.read_text(encoding="utf-8"))
    assert set(re.findall(r'"(\w+)"', typedef)) == listed
