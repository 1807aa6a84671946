"""What a conversation is called after its first answer: made of question and answer, by no model and at nobody's expense.

Takes two texts, gives a short line, or "" where the one that it has is as good. Pure.
"""

import re

from chat.streaming.visible import is_visible

MOST_CHARS = 60
_HEADING = re.compile(r"\s*#{1,3} +(\S[^\n]*?)\s*#*\s*(?:\n|$)")
_MARKS = re.compile(r"[*_`~]|\[|\]\([^)\s]*\)")
_GREETINGS = (
    r"hi|hello|hey|good (?:morning|evening|afternoon)",
    r"ol[áa]|oi|bom dia|boa (?:tarde|noite)",
    r"hola|buen[oa]s (?:d[ií]as|tardes|noches)",
)
# Followed by enough to be asked.
_GREETING = re.compile(rf"(?:{'|'.join(_GREETINGS)})\b[ ,.!:\u2013-]+(?=\S{{2,}}.{{8}})", re.IGNORECASE)


def after(question: str, answer: str) -> str:
    """The heading with which the answer begins, if it has one; else the question's first line without its greeting."""
    heading = _HEADING.match(answer[:300])
    if heading is not None:
        line = " ".join(_MARKS.sub("", heading.group(1)).split())
        if is_visible(line) and 3 <= len(line) <= MOST_CHARS:
            return line
    first = next((line for line in question[:2000].split("\n") if is_visible(line)), "")
    line = " ".join(first.split())
    greeted = _GREETING.match(line)
    if greeted is None:
        return ""
    line = line[greeted.end() :]
    line = line[0].upper() + line[1:]
    return line if len(line) <= MOST_CHARS else line[:MOST_CHARS].rsplit(" ", 1)[0].rstrip(",;:.") + "…"
