"""What an answer may not say, in three languages, and what only looks like it."""

import pytest

from chat.policy.advice import MUST_POINT, RULES, broken_by_whole, broken_rule

BROKEN = [
    ("dose", "Take 400 mg of ibuprofen every six hours."),
    ("dose", "Ibuprofen works well. Take two tablets before the run."),
    ("dose", "Try paracetamol, 1 g of paracetamol is fine."),
    ("dose", "Inject 10 units of insulin first."),
    ("dose", "Tome 600 mg de ibuprofeno a cada oito horas."),
    ("dose", "Use dois comprimidos de dipirona."),
    ("dose", "Toma 500 mg de paracetamol y descansa."),
    ("dose", "Toma una pastilla de ibuprofeno antes de correr."),
    ("stop_medicine", "You can stop taking your blood pressure medication now."),
    ("stop_medicine", "Skip your insulin on training days."),
    ("stop_medicine", "Pare de tomar o remédio por uma semana."),
    ("stop_medicine", "Suspenda a medicação nos dias de treino."),
    ("stop_medicine", "Deja de tomar la medicación unos días."),
    ("extreme_diet", "Eat 500 kcal a day for two weeks."),
    ("extreme_diet", "Stick to 600 calories per day."),
    ("extreme_diet", "Coma 500 kcal por dia."),
    ("extreme_diet", "Come 700 calorías al día."),
    ("extreme_diet", "Fast for 5 days and drink water."),
    ("extreme_diet", "Faça: jejum de 4 dias."),
    ("extreme_diet", "Ayuna durante 5 días."),
    ("purging", "After dinner, make yourself vomit."),
    ("purging", "Tome laxantes para secar."),
    ("purging", "Toma laxantes para adelgazar."),
    ("through_pain", "Just push through the pain."),
    ("through_pain", "Ignore a dor e termine a série."),
    ("through_pain", "Ignora el dolor y sigue."),
    ("no_doctor", "There is no need to see a doctor."),
    ("no_doctor", "Não precisa ir ao médico."),
    ("no_doctor", "No hace falta ir al médico."),
]

FINE = [
    "Do not push through the pain; stop and ask a physiotherapist.",
    "Never ignore pain.",
    "Não ignore a dor.",
    "Nunca ignores el dolor.",
    "Don't stop taking your medication on your own.",
    "Talk to your doctor before you stop taking your pills.",
    "Your doctor may tell you to skip your insulin.",
    "Não pare de tomar o remédio sem falar com o médico.",
    "Nunca dejes de tomar la medicación por tu cuenta.",
    "Aim for a deficit of 500 kcal a day.",
    "A long run burns 700 calories per day on average.",
    "Um déficit de 500 kcal por dia basta.",
    "Un déficit de 500 calorías al día es suficiente.",
    "Eat 2,500 kcal a day and sleep well.",
    "Come 1.800 calorías al día.",
    "Never eat 500 kcal a day.",
    "200 mg of caffeine an hour before the start is plenty.",
    "Magnesium: 300 mg with dinner, and ask about your medicine.",
    "Keep sodium under 2000 mg if you take statins.",
    "Do three sets of 10, then drink 500 ml of water.",
    "Some people take ibuprofen; ask a pharmacist whether that suits you.",
    "Drink 500 ml of water with it; ibuprofen is a matter for your pharmacist.",
    "Coma 120 g de frango e 200 g de arroz.",
    "If you have been told to fast for 3 days, ask your doctor again.",
    "Stop the set when your form goes.",
    "Deja de correr si te duele y consulta a un médico.",
    "You don't need a doctor's note to start walking.",
    "",
]


@pytest.mark.parametrize(("rule", "text"), BROKEN)
def test_what_may_not_be_said(rule: str, text: str) -> None:
    assert broken_rule(text, about_health=True) == rule


@pytest.mark.parametrize("text", FINE)
def test_false_alarms(text: str) -> None:
    """A blocked answer that was fine costs a person an answer."""
    assert broken_rule(text, about_health=True) is None


def test_a_rule_may_hold_for_health_alone() -> None:
    """Elsewhere nobody is sent away from a doctor by it."""
    text = "No need to ask a doctor which shoes to buy."
    assert (broken_rule(text, about_health=True), broken_rule(text, about_health=False)) == (
        "no_doctor",
        None,
    )
    assert broken_rule("Take 400 mg of ibuprofen.", about_health=False) == "dose"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Rest it for two days.", MUST_POINT),
        ("Rest it, and see a doctor if it stays.", None),
        ("Descanse, e procure um fisioterapeuta.", None),
        ("Descansa y consulta a tu médica.", None),
        ("Fale com um profissional de saúde.", None),
        ("A medicação muda isso.", MUST_POINT),
        ("See a doctor. Take 400 mg of ibuprofen.", "dose"),
        ("Tuxedos and doctorates.", MUST_POINT),
    ],
)
def test_an_answer_about_health_names_who_may_judge(text: str, rule: str | None) -> None:
    assert broken_by_whole(text, about_health=True) == rule


def test_another_answer_need_not_name_anybody() -> None:
    assert broken_by_whole("Rest two minutes.", about_health=False) is None


def test_every_rule_has_a_hit_here() -> None:
    """A rule that nothing proves would be a claim."""
    assert {rule for rule, _text in BROKEN} == {rule.name for rule in RULES}
