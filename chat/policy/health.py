"""Which questions are about health: one table of topics, in Portuguese, Spanish and English.

Takes what a person asked; gives the name of the topic, or None. A row lists words, and beside them the false friends that
look alike and mean something else: those are taken out first. Knows no gate, no model and no answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from chat.policy.words import fold, phrases

EARLIER_TURNS = 2
"""How many questions before the last one still colour it: "and how long will it last?" asks about the knee."""


class Topic(NamedTuple):
    """One row; `words` and `unless` are lists for `words.phrases`. What one row of a topic excepts, all of them do: a
    word may be meant in either of two languages."""

    name: str
    language: str
    words: str
    unless: str = ""


MEDICINES = """
    ibuprofen* | paracetamol | acetaminophen | acetaminofen* | aspirin* | naproxen* | diclofenac* | dipirona | metamizol |
    tramadol | codeine | codeina | morphine | morfina | prednison* | dexameth* | dexametason* | cortisone | cortisona |
    corticoid* | insulin* | metformin* | semaglutid* | ozempic | wegovy | mounjaro | tirzepatid* | metoprolol | atenolol |
    propranolol | losartan* | enalapril | warfarin* | statin | statins | estatina* | sertralin* | fluoxetin* | diazepam |
    clonazepam | omeprazol* | amoxicillin* | amoxicilin* | clenbuterol | tylenol | advil | aleve | voltaren | buscopan |
    nimesulid* | ketorolac* | ciclobenzaprin* | cyclobenzaprine | testosterone injection* | oxandrolon* | stanozolol |
    antibiotic* | painkiller* | analgesic* | anti-inflammator* | antiinflammator* | anti-inflamatori* | antiinflamatori* |
    antidepress* | beta blocker* | betabloqueante* | betabloqueador* | blood thinner* | anticoagulant* | steroids |
    esteroides | anabolizantes
"""
"""Medicines by name and by kind, alike in all three languages."""

TOPICS = (
    # --- pain -----------------------------------------------------------------------------------------------------
    Topic(
        "pain",
        "en",
        "pain | pains | painful | hurt | hurts | hurting | ache | aches | aching | backache | headache* | migraine*",
        "pain au * | pain aux * | pain de mie | no pain no gain | no pain, no gain | pain in the neck | pain point*"
        "| pain cave | wouldn't hurt | doesn't hurt to ask | won't hurt to | hurt my feelings | hurt my wallet",
    ),
    Topic(
        "pain",
        "pt",
        "dor | dores | dói | doem | doendo | doer | doeu | doía | dolorid* | dolorosa | doloroso | enxaqueca*",
        "dor de cotovelo | sem dor sem ganho | a doer | real doer",
    ),
    Topic(
        "pain",
        "es",
        "dolor | dolores | duele | duelen | doler | dolía | dolió | dolorid* | adolorid* | dolorosa | doloroso | migraña*"
        "| molestia en | molestias en",
        "soy dolores | me llamo dolores | doña dolores | sin dolor no hay *",
    ),
    # --- injury ---------------------------------------------------------------------------------------------------
    Topic(
        "injury",
        "en",
        "injur* | sprain* | strained | muscle strain | pulled a muscle | pulled muscle | pulled my * | torn * | fractur*"
        "| broken bone* | broken arm | broken leg | broken wrist | broken ankle | broken rib* | broken toe | broken finger"
        "| broke my arm | broke my leg | broke my wrist | broke my ankle | broke my toe | broke my collarbone | concussion"
        "| dislocat* | tendinitis | tendonitis | tendinopathy | hernia* | herniated | slipped disc | sciatica"
        "| shin splint* | plantar fasciitis | meniscus | swollen | swelling | twisted my ankle | twisted my knee | acl"
        "| rotator cuff",
        "injury time | torn between | torn jeans | torn page* | torn shirt | adding insult to injury",
    ),
    Topic(
        "injury",
        "pt",
        "lesão | lesões | lesion* | machuc* | machuq* | torci o * | torci meu * | torci minha * | torci a * | torção"
        "| entorse* | distensão | estiramento muscular | fratur* | luxação | tendinite* | hérnia* | ciático | dor ciática"
        "| inchad* | inchaço | contusão | concussão | menisco | ligamento* | canelite | fascite plantar",
    ),
    Topic(
        "injury",
        "es",
        "lesión | lesiones | lesion* | esguince* | torcedura | me torcí | me he torcido | desgarro | desgarré | fractur*"
        "| luxación | tendinitis | hernia* | ciática | ciático | hinchad* | hinchazón | contusión | conmoción | menisco"
        "| ligamento* | periostitis | fascitis plantar",
    ),
    # --- medicine -------------------------------------------------------------------------------------------------
    Topic("medicine", "any", MEDICINES),
    Topic(
        "medicine",
        "en",
        "medicine | medicines | medication* | meds | pill | pills | drug | drugs | prescription drug* | overdose | vaccin*",
        "medicine ball* | medicine-ball* | pill bug* | laughter is the best medicine | drug store | drug free | drug-free",
    ),
    Topic(
        "medicine",
        "pt",
        "remédio* | medicamento* | medicação | medicações | comprimido* | receita médica | injeção | injeções | vacina*",
        "ar comprimido | santo remédio | injeção de ânimo",
    ),
    Topic(
        "medicine",
        "es",
        "medicina | medicinas | medicamento* | medicación | pastilla | pastillas | comprimido* | receta médica"
        "| inyección | inyecciones | vacuna*",
        "pastilla de caldo | pastilla de jabón | pastillas de freno | pastilla de freno | aire comprimido"
        "| estudio medicina | estudiante de medicina",
    ),
    # --- eating disorders -----------------------------------------------------------------------------------------
    Topic(
        "eating_disorder",
        "en",
        "anorexi* | bulimi* | orthorexi* | eating disorder* | disordered eating | binge eating | binge and purge"
        "| binging | purging | purge after | make myself vomit | make myself sick | make myself throw up | throw up after"
        "| starve myself | starving myself | laxative*",
        "binging on * series | purging my inbox",
    ),
    Topic(
        "eating_disorder",
        "pt",
        "anoréxic* | bulímic* | ortorexia | transtorno alimentar | transtornos alimentares | distúrbio alimentar"
        "| compulsão alimentar | forçar o vômito | forço o vômito | provocar vômito | provocar o vômito | vomitar depois"
        "| vomito depois | passar fome para * | laxante*",
    ),
    Topic(
        "eating_disorder",
        "es",
        "anoréxic* | bulímic* | ortorexia | trastorno alimentario | trastornos alimentarios | trastorno alimenticio"
        "| trastorno de la conducta alimentaria | atracón | atracones | provocarme el vómito | provocar el vómito"
        "| vomitar después | vomito después | dejar de comer | matarme de hambre",
        "dejar de comer azúcar | dejar de comer carne | dejar de comer dulces | dejar de comer pan",
    ),
    # --- pregnancy ------------------------------------------------------------------------------------------------
    Topic(
        "pregnancy",
        "en",
        "pregnan* | prenatal | postpartum | postnatal | after giving birth | c-section | breastfeed* | breast-feed*"
        "| trimester | miscarriage | expecting a baby",
        "pregnant pause | pregnant with meaning",
    ),
    Topic(
        "pregnancy",
        "pt",
        "grávida | grávidas | gravidez | gestante* | gestação | pré-natal | pós-parto | depois do parto"
        "| cesárea | cesariana | amament* | puérpera | puerpério",
    ),
    Topic(
        "pregnancy",
        "es",
        "embarazada* | embarazo | embarazos | gestante* | gestación | prenatal | posparto | postparto | después del parto"
        "| cesárea | lactancia | amamant* | dando el pecho",
    ),
    # --- heart ----------------------------------------------------------------------------------------------------
    Topic(
        "heart",
        "en",
        "heart | hearts | chest tightness | tight chest | cardiac | cardiovascular disease | arrhythmia* | palpitation*"
        "| angina | pacemaker | a stroke | my stroke | had stroke | stroke survivor* | blood pressure | hypertension"
        "| hypotension | tachycardia",
        "heart rate* | heart-rate* | heartrate | by heart | heart of palm | hearts of palm | palm hearts | palm heart"
        "| artichoke heart* | chicken heart* | beef heart | heart of the matter | heart of gold | with all my heart"
        "| change of heart | lose heart | lost heart | take heart | cardiac output | a stroke of | calories a stroke"
        "| metres a stroke | meters a stroke | a stroke rate | at heart | heart to heart | heart beats per minute zones",
    ),
    Topic(
        "heart",
        "pt",
        "coração | cardíac* | cardiopatia | arritmia* | palpitaç* | angina | marca-passo | marcapasso | infarto | avc"
        "| pressão alta | pressão baixa | pressão arterial | hipertens* | taquicardia | aperto no peito",
        "frequência cardíaca* | ritmo cardíaco | zona cardíaca | zonas cardíacas | zonas de frequência cardíaca"
        "| coração de palmito | coração de frango | coração de galinha | coração de alcachofra | coração de boi"
        "| de coração | de todo coração | de todo o coração | coração da questão | coração da cidade",
    ),
    Topic(
        "heart",
        "es",
        "corazón | cardíac* | cardiopatía | arritmia* | palpitaciones | angina | marcapasos | infarto | ictus"
        "| tensión alta | presión alta | presión arterial | tensión arterial | hipertens* | taquicardia"
        "| opresión en el pecho",
        "frecuencia cardíaca* | ritmo cardíaco | zona cardíaca | zonas cardíacas | zonas de frecuencia cardíaca"
        "| corazón de palmito | corazones de palmito | corazón de alcachofa | corazones de alcachofa | corazón de pollo"
        "| de corazón | de todo corazón | corazón de la ciudad | corazón del asunto | corazón de la cuestión",
    ),
    # --- illness --------------------------------------------------------------------------------------------------
    Topic(
        "illness",
        "en",
        "diabet* | asthma* | covid | covid-19 | fever | flu | dizzy | dizziness | fainted | fainting | arthritis"
        "| osteoporosis | osteoarthritis | cancer | epilep* | surgery | depression | panic attack* | numbness",
        "cancer zodiac | cancer sign | dance fever | gold fever | great depression | plastic surgery on my",
    ),
    Topic(
        "illness",
        "pt",
        "diabet* | asma | asmátic* | covid | febre | gripe | tontura* | desmai* | artrite | artrose | osteoporose"
        "| câncer | epilep* | cirurgia* | depressão | dormência",
        "febre do ouro | signo de câncer",
    ),
    Topic(
        "illness",
        "es",
        "diabet* | asma | asmátic* | covid | fiebre | gripe | mareo* | maread* | desmay* | artritis | artrosis"
        "| osteoporosis | cáncer | epilep* | cirugía* | depresión | entumecimiento",
        "fiebre del oro | signo de cáncer",
    ),
)
"""The health filter of the coach. Where two rows would fit, the first is named."""


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    unless: dict[str, str] = {}
    for topic in TOPICS:
        unless[topic.name] = f"{unless.get(topic.name, '')}|{topic.unless}"
    return tuple((topic.name, phrases(topic.words), phrases(unless[topic.name])) for topic in TOPICS)


def topic_of(text: str) -> str | None:
    """Return the topic of one text; None where it is not about health."""
    folded = fold(text)
    for name, words, unless in _compiled():
        if words.search(folded) and words.search(unless.sub(" ", folded)):
            return name
    return None


def topic_of_turns(asked: Sequence[str]) -> str | None:
    """Return the topic of the last question, or else of one of the few before it, which it may well go on with.

    `asked` is what the person wrote, oldest first; a topic of an earlier question says so: `pain, earlier`.
    """
    recent = asked[-1 - EARLIER_TURNS :]
    for back, text in enumerate(reversed(recent)):
        if topic := topic_of(text):
            return f"{topic}, earlier" if back else topic
    return None
