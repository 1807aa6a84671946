r"""Formulas in Markdown: the two rules that find them, and how they look.

Takes markdown-it's states, gives tokens `math_block` and `math_inline`; takes TeX, gives MathML or, where the converter
fails or the document's time for decoration is used up, the TeX itself as code.
"""

import re
from html import unescape
from xml.etree.ElementTree import tostring

from latex2mathml.converter import convert_to_element as convert_tex
from markdown_it.common.utils import escapeHtml
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from chat.rendering.effort import Effort

TEX_MAX_CHARS = 2_000
_ALIGNED = re.compile(r"\\(begin|end)\{(?:aligned|gathered)\}")
_BLOCK_DELIMITERS = {"$$": "$$", "\\[": "\\]"}
_INLINE_DELIMITERS = {"$$": "$$", "\\[": "\\]", "\\(": "\\)"}


def math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 markdown-it's form
    """A formula that begins a line with `$$` or `\\[` and ends one with its twin, no blank line between.

    A line that begins another one ends the search: so no line is looked at for two beginnings.
    """
    if state.is_code_block(start):
        return False
    first = state.getLines(start, start + 1, state.blkIndent, keepLastLF=False).strip()
    opening = first[:2]
    closing = _BLOCK_DELIMITERS.get(opening)
    if closing is None:
        return False
    lines = [first[2:]]
    line = start
    while not lines[-1].rstrip().endswith(closing):
        line += 1
        if line >= end or state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            return False
        text = state.getLines(line, line + 1, state.blkIndent, keepLastLF=False)
        if text.lstrip().startswith(opening) and text.strip() != closing:
            return False
        lines.append(text)
    tex = "\n".join(lines).rstrip()[: -len(closing)].strip()
    if not tex or closing in tex:
        return False
    if not silent:
        token = state.push("math_block", "", 0)
        token.content, token.markup, token.map, token.block = tex, opening, [start, line + 1], True
    state.line = line + 1
    return True


def math_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 markdown-it's form
    """`\\(a\\)`, `\\[a\\]`, `$$a$$`; and `$a$` if the dollars hug it and no digit follows (prices)."""
    source, at = state.src, state.pos
    opening = source[at : at + 2]
    if opening in _INLINE_DELIMITERS:
        closing, begin = _INLINE_DELIMITERS[opening], at + 2
    elif opening[:1] == "$":
        opening, closing, begin = "$", "$", at + 1
    else:
        return False
    stop = source.find(closing, begin, state.posMax)
    if stop < 0:
        return False
    tex, after = source[begin:stop], source[stop + len(closing) : stop + len(closing) + 1]
    if not tex.strip() or "\n\n" in tex:
        return False
    if opening == "$" and (tex != tex.strip() or "\n" in tex or after.isdigit() or tex.endswith("\\")):
        return False
    if not silent:
        token = state.push("math_inline", "", 0)
        token.content, token.markup = tex.strip(), opening
    state.pos = stop + len(closing)
    return True


def _known(tex: str) -> str:
    """The converter knows equations below each other by one name of the three that models use, and shows the signs between
    their columns for the others."""
    return _ALIGNED.sub(r"\\\1{split}", tex)


def mathml(tex: str, effort: Effort, *, display: bool) -> str:
    """The formula as MathML; its TeX where that cannot be."""
    effort.begin_decoration()
    try:
        if len(tex) <= TEX_MAX_CHARS and not effort.is_late():
            formula = convert_tex(_known(tex), display="block" if display else "inline")
            # The converter prints its text, full of entities, unescaped: `\\text{<b>}` would be markup.
            for element in formula.iter():
                element.text = unescape(element.text) if element.text else None
            return tostring(formula, encoding="unicode")
    except Exception:  # noqa: BLE001, S110 the converter raises whatever it meets; a formula must not lose an answer
        pass
    finally:
        effort.end_decoration()
    return f'<code class="tex">{escapeHtml(tex)}</code>'
