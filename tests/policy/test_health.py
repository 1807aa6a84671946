"""Which questions take the careful way, and which only look as if they should."""

import pytest

from chat.policy.health import TOPICS, topic_of, topic_of_turns

HEALTH = [
    ("pain", "My knee hurts when I squat"),
    ("pain", "What helps against back PAIN?"),
    ("pain", "Is a headache after sprints normal?"),
    ("pain", "Meu joelho dói quando agacho"),
    ("pain", "Estou com dor nas costas"),
    ("pain", "Me duele el hombro al levantar el brazo"),
    ("pain", "¿Por qué tengo dolores de espalda?"),
    ("pain", "do\u0301i muito"),
    ("injury", "I sprained my ankle, can I run?"),
    ("injury", "How do I train with a torn meniscus?"),
    ("injury", "Tive uma lesão no ombro"),
    ("injury", "Machuquei o pé"),
    ("injury", "Sufrí un esguince de tobillo"),
    ("injury", "Me torcí la rodilla"),
    ("medicine", "Can I take ibuprofen before a run?"),
    ("medicine", "Does my medication change my max pulse?"),
    ("medicine", "Posso treinar tomando antibiótico?"),
    ("medicine", "Esqueci o remédio hoje"),
    ("medicine", "¿Puedo entrenar si tomo pastillas?"),
    ("medicine", "Tomo metformina, ¿puedo correr?"),
    ("eating_disorder", "I had bulimia, how should I count calories?"),
    ("eating_disorder", "I keep starving myself"),
    ("eating_disorder", "Tenho compulsão alimentar"),
    ("eating_disorder", "Creo que tengo un trastorno alimentario"),
    ("pregnancy", "I am pregnant, which lifts are fine?"),
    ("pregnancy", "Estou grávida de 5 meses"),
    ("pregnancy", "¿Qué ejercicios en el embarazo?"),
    ("heart", "I have a heart condition"),
    ("heart", "My blood pressure is high"),
    ("heart", "Sinto palpitações quando corro"),
    ("heart", "Tenho um problema no coração"),
    ("heart", "Me operaron del corazón"),
    ("illness", "I have asthma and want to swim"),
    ("illness", "Tive febre ontem"),
    ("illness", "Tengo diabetes tipo 2"),
]

NOT_HEALTH = [
    "What are heart rate zones?",
    "Explain heart-rate variability and zone 2",
    "Zonas de frequência cardíaca para corrida",
    "¿Cómo calculo mis zonas de frecuencia cardíaca?",
    "How many calories are in a pain au chocolat?",
    "Pain de mie or oats before a run?",
    "No pain, no gain: is that true?",
    "I am painting Spain in bright colours",
    "¿De qué color es la cinta?",
    "Cor e conforto dos tênis",
    "El duelo del domingo",
    "Receta con corazón de palmito",
    "Salada de coração de palmito",
    "Recipe with hearts of palm",
    "Agradeço de coração!",
    "Te lo digo de corazón",
    "Medicine ball slams: how many?",
    "Wall balls with a medicine-ball",
    "I know the routine by heart",
    "I'm a doer, not a talker",
    "Qual é a dose de whey?",
    "Treino de dorsal e peito",
    "Quero dormir melhor",
    "¿Qué pastilla de caldo uso?",
    "There was a goal in injury time",
    "He paused, a pregnant pause",
    "Eso fue embarazoso",
    "Soy Dolores, ¿por dónde empiezo?",
    "I binge watched a series, now I want to move",
    "Gravidade e impulso no salto",
    "How long should I rest between sets?",
    "Quantas séries por semana?",
    "¿Cuántas repeticiones hago?",
    "It wouldn't hurt to stretch, would it?",
    "Pillow height for side sleepers",
    "Cardio or weights first?",
    "",
]


@pytest.mark.parametrize(("topic", "text"), HEALTH)
def test_questions_about_health(topic: str, text: str) -> None:
    assert topic_of(text) == topic


@pytest.mark.parametrize("text", NOT_HEALTH)
def test_false_friends(text: str) -> None:
    """A person who asks for zones must not wait for a check of their heart."""
    assert topic_of(text) is None


def test_a_false_friend_beside_a_true_word_hides_nothing() -> None:
    assert topic_of("My heart rate zones are odd since my heart attack") == "heart"
    assert topic_of("Pain au chocolat after chest pain") == "pain"


@pytest.mark.parametrize("text", [text for _topic, text in HEALTH])
def test_case_and_accents_do_not_matter(text: str) -> None:
    """People type on phones."""
    assert topic_of(text.upper()) == topic_of(text)


def test_a_follow_up_is_about_what_was_asked_before() -> None:
    """ "How long does it last?" says nothing of health, and is."""
    knee = "My knee hurts"
    assert topic_of_turns([]) is None
    assert topic_of_turns([knee]) == "pain"
    assert topic_of_turns([knee, "And how long will that last?"]) == "pain, earlier"
    assert topic_of_turns([knee, "And how long?", "And then?"]) == "pain, earlier"
    assert topic_of_turns([knee, "Hello", "Good", "A plan for runs, please"]) is None
    assert topic_of_turns([knee, "I am pregnant"]) == "pregnancy"


def test_the_table_speaks_three_languages_of_every_topic() -> None:
    spoken: dict[str, set[str]] = {}
    for topic in TOPICS:
        spoken.setdefault(topic.name, set()).add(topic.language)
    assert sorted(spoken) == [
        "eating_disorder",
        "heart",
        "illness",
        "injury",
        "medicine",
        "pain",
        "pregnancy",
    ]
    assert [sorted(languages - {"any"}) for languages in spoken.values()] == [["en", "es", "pt"]] * 7


def test_a_long_text_costs_little() -> None:
    """A person may paste 32,000 characters; the filter stands before every send."""
    assert topic_of("How many sets? " * 2000 + "It hurts.") == "pain"
    assert topic_of("a" * 32_000) is None
