"""What an answer of the coach may not say, and what one about health must: one table of rules.

Takes an answer's text, or a stretch of it; gives the name of the broken rule, or None. Each rule looks at one sentence at a
time (a dose also at the next one), in Portuguese, Spanish and English. Knows no gate and no model. The rules are few on
purpose: they keep plain harm out, and leave judgement to the model's instructions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from chat.policy.health import MEDICINES
from chat.policy.words import fold, phrases

Finds = Callable[[str], bool]


class Rule(NamedTuple):
    """One row. `breaks` looks at folded text. `health_only`: it counts only where the question is about health."""

    name: str
    forbids: str
    breaks: Finds
    health_only: bool = False


# --- pieces of patterns, over folded text --------------------------------------------------------------------------
_SENTENCE = re.compile(r"[^.!?;\n。！？]*(?:\.(?=\d)[^.!?;\n。！？]*)*[.!?;\n。！？]*")
_MEDICINE = phrases(MEDICINES)
_ANY_MEDICINE = phrases(
    MEDICINES
    + "| medicine | medicines | medication* | meds | pills | remedio* | medicamento* | medicacao | medicacoes | medicina"
    "| medicinas | medicacion | pastillas | comprimidos | blood pressure tablets | thyroid tablets"
)
_COUNT = r"(?:\d+(?:[.,]\d+)?|one|two|three|half an?|um|uma|dois|duas|tres|meio|meia|un|una|dos|medio|media)"
_UNITS = (
    r"(?:mg|mcg|μg|milligram\w*|miligram\w*|microgram\w*|tablets?|pills?|capsules?|comprimidos?|capsulas?|pastillas?|gotas"
    r"|drops)"
)
_AMOUNT = re.compile(rf"(?<!\w){_COUNT}(?:\s*(?:-|to|a|or|ou|o)\s*{_COUNT})?\s*{_UNITS}(?!\w)")
# Grams and millilitres are food and water, unless they are said to be of the medicine itself.
_OF = re.compile(
    rf"(?<!\w){_COUNT}\s*(?:g|grams?|gramas?|gramos?|ml|units?|unidades?)\s+(?:of|de)\s+{_MEDICINE.pattern}"
)
_NUTRIENTS = (
    r"(?:caffeine|cafeina|sodium|sodio|salt|sal|magnesium|magnesio|calcium|calcio|potassium|potassio|potasio|vitamin\w*"
    r"|iron|ferro|hierro|zinc|zinco|omega\S*|creatin\w*|cholesterol|colesterol|electrolyt\w*|eletrolit\w*)"
)
_NUTRIENT_AMOUNT = re.compile(
    rf"{_AMOUNT.pattern}\s+(?:of|de)\s+{_NUTRIENTS}|(?<!\w){_NUTRIENTS}(?!\w)[^.;,\n]{{0,24}}?{_AMOUNT.pattern}"
)
_NOT = re.compile(
    r"(?<!\w)(?:not|never|avoid|without|instead of|rather than|before|whether|unless|refuse|cannot|can't|don't|doesn't"
    r"|shouldn't|won't|isn't|mustn't|nao|nunca|jamais|evit\w*|sem|antes|em vez|ao inves|no(?!,)|sin|en vez|en lugar|ni|nem)"
    r"(?!\w)"
)
_IF = re.compile(r"(?<!\w)(?:if|when|se|si|quando|cuando|whoever|quem|quien|anyone who)(?!\w)")
_PROFESSIONAL = phrases(
    """
    doctor | doctors | physician* | gp | physio | physios | physiotherapist* | physical therapist* | midwi* | dietitian*
    | dietician* | nutritionist* | psychologist* | psychiatrist* | therapist* | nurse* | pharmacist* | cardiologist*
    | obstetrician* | specialist* | health professional* | healthcare professional* | health care professional*
    | healthcare provider* | health care provider* | medical professional* | medical advice | medical help
    | medical attention | emergency | 911 | 112 | 999 | médico | médica | médicos | médicas | doutor*
    | fisioterapeut* | fisio | enfermeir*
    | obstetra* | ginecologist* | ginecólog* | nutricionist* | psicólog* | psiquiatra* | cardiologist* | cardiólog*
    | farmacêutic* | profissional de saúde | profissionais de saúde | pronto-socorro | pronto socorro | emergência*
    | urgência* | samu | doctora | matrona* | comadrona* | enfermer* | farmacéutic* | especialista*
    | profesional sanitario | profesional de la salud | profesionales de la salud | profesional de salud | urgencias
    | emergencias | ortopedista* | traumatólog*
    """
)

_STOP = re.compile(
    r"(?<!\w)(?:(?:stop|quit|skip|discontinue|come off|go off|drop|double|halve|throw away|give up)(?:\s+(?:taking|using))?"
    r"|(?:pare|para|parar|deixe|deixa|deixar|suspenda|suspende|suspender|interrompa|largue|abandone|dobre|pule)"
    r"(?:\s+de\s+(?:tomar|usar))?"
    r"|(?:deja|deje|dejar|dejes|interrumpe|interrumpa|abandona|duplica|salta|saltate)(?:\s+de\s+(?:tomar|usar|tomarte))?)"
    r"\s+(?:(?:your|the|all|any|those|these|that|this|o|a|os|as|seu|sua|seus|suas|teu|tua|teus|tuas|el|la|los|las|tu|tus|su"
    r"|sus|esa|ese|esas|esos|essa|esse|prescribed|daily|heart|blood pressure)\s+){0,3}"
    + _ANY_MEDICINE.pattern
)
_KCAL = r"(?:k?cal|calories|calorias|kilocalories|quilocalorias|kilocalorias)"
_FEW_CALORIES = re.compile(
    rf"(?<![\w.,])(?:[1-7]\d\d)\s*{_KCAL}\s*(?:a day|per day|/\s*day|daily|each day|total|por dia|ao dia|/\s*dia|diarias"
    r"|al dia|a day in total)(?!\w)"
)
_SPENT = re.compile(
    r"(?<!\w)(?:deficit|defici\w*|burn\w*|surplus|superavit|excess|extra|more|fewer|less|cut|reduc\w*|below|above|over"
    r"|under|gast\w*|queim\w*|quem\w*|menos|mais|mas|cort\w*|acima|abaixo|debajo|encima|adicion\w*|subtract|expend\w*)(?!\w)"
)
_FASTING = re.compile(
    r"(?<!\w)(?:(?:water[- ]fast|fast|eat nothing|don't eat|do not eat|no food|jejum|jejue|ayuna|ayune|ayuno"
    r"|nao coma|no comas|sin comer|sem comer)\s+(?:(?:anything|nada|de|de agua|only water|total|completely)\s+){0,2}"
    r"(?:for|por|durante|de)?\s*(?:[3-9]|[1-9]\d|three|four|five|seven|ten|tres|quatro|cuatro|cinco|sete|siete|dez|diez)"
    r"\s*(?:-\s*)?(?:days?|dias?))(?!\w)"
)
_PURGE = re.compile(
    r"(?<!\w)(?:(?:make|force) yourself (?:to )?(?:vomit|throw up|sick)|vomit after (?:eating|meals|each meal)"
    r"|(?:use|take|try) laxatives? (?:to|for)|(?:force|provoque) o vomito|vomite (?:depois|apos)|(?:tome|use) laxantes? para"
    r"|provoca(?:te)? el vomito|provoquese el vomito|vomita (?:despues|tras)|(?:toma|tome|usa) laxantes? para)(?!\w)"
)
_THROUGH_PAIN = re.compile(
    r"(?<!\w)(?:(?:ignore|push through|train through|run through|play through|power through|work through|lift through)"
    r"\s+(?:the|your|any|that|this)?\s*pain"
    r"|(?:ignore|ignora|aguente|treine com|corra com|force mesmo com)\s+(?:a |sua |essa )?dor"
    r"|(?:ignora|ignore|aguanta|aguante|entrena con|entrene con|corre con)\s+(?:el |tu |ese |su )?dolor)(?!\w)"
)
_NO_DOCTOR = re.compile(
    r"(?<!\w)(?:(?:no need|you don't need|you do not need|there is no need|needn't|unnecessary)"
    r"\s+(?:to )?(?:see |ask |consult |visit |call |go to |for )?(?:an? |the |your |any )?(?:doctor|physician|gp|physio\w*)"
    r"|nao (?:precisa|e preciso|e necessario|ha necessidade)(?: de)?(?: ir| consultar| procurar| ver| ao| a| um| uma| o"
    r"| de)* (?:medic\w*|doutor\w*|fisioterapeuta)"
    r"|no (?:necesitas|necesita|hace falta|es necesario)(?: ir| consultar| acudir| ver| al| a| un| una| el| la)*"
    r" (?:medic\w*|doctor\w*|fisioterapeuta))(?! (?:note|certificate))(?!')(?!\w)"
)


# --- how rules look ------------------------------------------------------------------------------------------------
def _sentences(folded: str) -> Iterator[str]:
    return (found.group() for found in _SENTENCE.finditer(folded) if found.group().strip())


def _said(pattern: re.Pattern[str], *excuses: re.Pattern[str], asks_no_doctor: bool = False) -> Finds:
    """Whether a sentence says it, with none of the excuses before it in the same sentence (and, with `asks_no_doctor`,
    without a word of a professional anywhere in it)."""

    def breaks(folded: str) -> bool:
        for sentence in _sentences(folded):
            found = pattern.search(sentence)
            if found is None or (asks_no_doctor and _PROFESSIONAL.search(sentence)):
                continue
            if not any(excuse.search(sentence, 0, found.start()) for excuse in excuses):
                return True
        return False

    return breaks


def _gives_a_dose(folded: str) -> bool:
    """A medicine and an amount of it in one sentence, or in two that follow each other."""
    if _OF.search(folded):
        return True
    plain = _NUTRIENT_AMOUNT.sub(" ", folded)
    before = ""
    for sentence in _sentences(plain):
        amount = _AMOUNT.search(sentence)
        if amount and (_MEDICINE.search(sentence) or _MEDICINE.search(before)):
            return True
        before = sentence
    return False


def _starves(folded: str) -> bool:
    for sentence in _sentences(folded):
        found = _FEW_CALORIES.search(sentence)
        if found and not _SPENT.search(sentence) and not _NOT.search(sentence, 0, found.start()):
            return True
    return _said(_FASTING, _NOT, _IF, asks_no_doctor=True)(folded)


RULES = (
    Rule("dose", "an amount of a medicine", _gives_a_dose),
    Rule(
        "stop_medicine",
        "to stop, skip or change a medicine",
        _said(_STOP, _NOT, _IF, asks_no_doctor=True),
    ),
    Rule("extreme_diet", "under 800 kcal a day, or days without food", _starves),
    Rule("purging", "to vomit or take laxatives to lose weight", _said(_PURGE, _NOT, _IF)),
    Rule("through_pain", "to ignore pain or train through it", _said(_THROUGH_PAIN, _NOT, _IF)),
    Rule("no_doctor", "that no doctor is needed", _said(_NO_DOCTOR), health_only=True),
)
"""What an answer may not tell a person. The first rule that is broken is named."""

MUST_POINT = "points_to_professional"
"""The one rule about what must be there: an answer about health names somebody who may judge it."""


def broken_rule(text: str, *, about_health: bool) -> str | None:
    """Return the rule that this stretch breaks, whatever may still follow it."""
    folded = fold(text)
    return next(
        (rule.name for rule in RULES if (about_health or not rule.health_only) and rule.breaks(folded)), None
    )


def broken_by_whole(text: str, *, about_health: bool) -> str | None:
    """Return the rule that a whole answer breaks."""
    broken = broken_rule(text, about_health=about_health)
    if broken is None and about_health and not _PROFESSIONAL.search(fold(text)):
        return MUST_POINT
    return broken
