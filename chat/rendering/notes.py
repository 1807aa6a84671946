"""Footnotes: marks where they stand, and the notes at the end of the document, numbered by the order of their marks.

Takes markdown-it's states; the library's plugin reads the notes themselves and gathers them. Marks are read here, so that a
draft and its answer say the same: the browser's twin (`static/chat/js/notes.js`) does not know yet whether a note will come.
So a mark without a note is a number too, that leads nowhere; and a note that nothing refers to is not lost, but stands
behind the others.
"""

import re
from collections.abc import Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.footnote.index import render_footnote_ref

_MARK = re.compile(r"\[\^([^\]\s[]{1,60})\]")


def add_notes(md: MarkdownIt) -> None:
    md.use(footnote_plugin, inline=False)
    md.disable("footnote_ref")
    md.inline.ruler.before("link", "note_mark", _mark)
    md.core.ruler.before("footnote_tail", "unmarked_notes", _unmarked)
    md.core.ruler.after("footnote_tail", "missing_notes", _missing)
    md.add_render_rule("footnote_caption", _caption)
    md.add_render_rule("footnote_ref", _ref)
    md.add_render_rule("footnote_open", _open)


def _data(env: Any) -> dict[str, Any]:
    data: dict[str, Any] = env.setdefault("footnotes", {})
    data.setdefault("refs", {})
    data.setdefault("list", {})
    return data


def _mark(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 markdown-it's form
    """`[^label]`: the same letters, large or small, are the same note."""
    found = _MARK.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        data = _data(state.env)
        if "labels" not in data:  # the notes of the whole document are known before its first mark is read
            data["labels"] = {name[1:].upper(): name[1:] for name in data["refs"]}
        label = data["labels"].setdefault(found[1].upper(), found[1])
        number = data["refs"].get(f":{label}", -1)
        if number < 0:
            number = data["refs"][f":{label}"] = len(data["list"])
            data["list"][number] = {"label": label, "count": 0}
        entry = data["list"][number]
        token = state.push("footnote_ref", "", 0)
        token.meta = {"id": number, "subId": entry["count"], "label": label}
        entry["count"] += 1
    state.pos = found.end()
    return True


def _unmarked(state: StateCore) -> None:
    """Notes that nothing refers to come behind the others."""
    data = _data(state.env)
    data["noted"] = {each.meta["label"] for each in state.tokens if each.type == "footnote_reference_open"}
    for name, number in data["refs"].items():
        if number < 0:
            at = data["refs"][name] = len(data["list"])
            data["list"][at] = {"label": name[1:], "count": 0}


def _missing(state: StateCore) -> None:
    """Numbers without a note have no line at the end; a note that nothing refers to has no way back. And a line keeps its
    number where the one before it has none."""
    data = _data(state.env)
    kept: list[Token] = []
    place, skipping = 0, False
    for token in state.tokens:
        if token.type == "footnote_open":
            place += 1
            skipping = token.meta["label"] not in data["noted"]
            if skipping:
                place -= 1
            elif token.meta["id"] + 1 != place:
                place = token.meta["value"] = token.meta["id"] + 1
        is_lost_way = token.type == "footnote_anchor" and not data["list"][token.meta["id"]]["count"]
        if not skipping and not is_lost_way:
            kept.append(token)
        if token.type == "footnote_close":
            skipping = False
    if not place:
        kept = [each for each in kept if not each.type.startswith("footnote_block_")]
    state.tokens = kept


# --- what they look like --------------------------------------------------------------------------------------------
def _caption(
    _self: RendererProtocol, tokens: Sequence[Token], at: int, _options: OptionsDict, _env: EnvType
) -> str:
    return f"[{tokens[at].meta['id'] + 1}]"


def _ref(self: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType) -> str:
    if tokens[at].meta["label"] in env["footnotes"]["noted"]:
        return render_footnote_ref(self, tokens, at, options, env)
    return f'<sup class="footnote-ref"><a>{_caption(self, tokens, at, options, env)}</a></sup>'


def _open(
    self: RendererProtocol, tokens: Sequence[Token], at: int, options: OptionsDict, env: EnvType
) -> str:
    name: str = self.rules["footnote_anchor_name"](tokens, at, options, env)  # type: ignore[attr-defined]
    value = f' value="{tokens[at].meta["value"]}"' if "value" in tokens[at].meta else ""
    return f'<li id="fn{name}" class="footnote-item"{value}>'
