"""The audit shows everything to those who may look, changes nothing, and keeps texts out of lists."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from chat import conversations, generations
from chat.admin import GenerationAdmin, PresetForm, ToolCallAdmin
from chat.models import Conversation, GatePolicy, Generation, JournalRow, Message, Preset, ToolCall
from chat.streaming.reading import ToolCall as Call
from tests.rows import asking, client_of, conversation_of, cut, ended, person, reading, sent

MODELS = (Generation, JournalRow, Conversation, Message, ToolCall)


CALL = Call("call_1", "find_gym", '{"near": "Secret street", "why": "<i>"}', {"near": "x"}, complete=True)
OTHER_CALL = Call("call_2", "log_set", "{}", {}, complete=True)


@pytest.fixture
def root(db: None) -> Client:
    return client_of("root", is_staff=True, is_superuser=True)


@pytest.fixture
def rows(db: None) -> tuple[Generation, Generation]:
    """A reply that was cut, and the one that a person tried instead; somebody else's called a tool."""
    ana = person("ana", email="ana@example.org")
    first = ended(sent(ana, "Secret question?"), cut(detail="<b>broken</b>"))
    ended(sent(person("kim"), "Secret call?"), asking(CALL, OTHER_CALL, response_id="resp_7"))
    return first, ended(generations.retry(first, user=ana), reading("Secret answer."))


def called() -> Generation:
    """The reply of the rows above whose model called."""
    return Generation.objects.get(reason="unexpected_tool_call")


def address(model: Any, view: str, *args: Any) -> str:
    return reverse(f"admin:chat_{model._meta.model_name}_{view}", args=args)


def text_of(client: Client, url: str, status: int = 200) -> str:
    response = client.get(url)
    assert response.status_code == status, url
    return response.content.decode()


# --- who may look ---------------------------------------------------------------------------------------------------
def test_the_superuser_sees_every_list_and_every_row(
    root: Client, rows: tuple[Generation, Generation]
) -> None:
    """No list tells a text; that is on the row's own page."""
    for model in MODELS:
        assert "Secret" not in text_of(root, address(model, "changelist"))
        for row in model.objects.all():
            text_of(root, address(model, "change", row.pk))


@pytest.mark.parametrize("model", MODELS)
def test_staff_without_permission_see_nothing(rows: tuple[Generation, Generation], model: Any) -> None:
    eva = client_of("eva", is_staff=True)
    text_of(eva, address(model, "changelist"), status=403)
    text_of(eva, address(model, "change", model.objects.all()[0].pk), status=403)


def test_who_is_no_staff_is_sent_to_sign_in(rows: tuple[Generation, Generation]) -> None:
    for client in (client_of("bob"), Client()):
        response = client.get(address(Generation, "changelist"))
        assert (response.status_code, "login" in response["Location"]) == (302, True)


def test_a_permission_to_look_at_generations_shows_no_draft(rows: tuple[Generation, Generation]) -> None:
    """The facts of a failure can be looked into without reading what somebody wrote."""
    eva = client_of("eva", "view_generation", is_staff=True)
    max_ = client_of("max", "view_generation", "view_checkpoint", is_staff=True)
    url = address(Generation, "change", rows[0].pk)
    assert ("Two" in text_of(eva, url), "Two" in text_of(max_, url)) == (False, True)


# --- nothing can be changed -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("model", MODELS)
def test_nobody_adds_changes_or_deletes(
    root: Client, rows: tuple[Generation, Generation], model: Any
) -> None:
    row = model.objects.all()[0]
    before = model.objects.filter(pk=row.pk).values().get()
    for view, args in (("add", ()), ("change", (row.pk,)), ("delete", (row.pk,))):
        response = root.post(address(model, view, *args), {"state": "confirmed", "post": "yes", "text": "x"})
        assert response.status_code == 403, view
    bulk = {"action": "delete_selected", "_selected_action": str(row.pk), "post": "yes"}
    root.post(address(model, "changelist"), bulk)
    assert model.objects.filter(pk=row.pk).values().get() == before
    page = text_of(root, address(model, "changelist"))
    offers = ("delete_selected", 'name="action"', address(model, "add"))
    assert [offer for offer in offers if offer in page] == []


def test_every_table_of_ours_is_read_only() -> None:
    """One that is registered later must not be forgotten."""
    from chat.audit import ReadOnly

    kept_here = {Preset, GatePolicy}
    registered = admin.site._registry.items()
    ours = [each for model, each in registered if model._meta.app_label == "chat" and model not in kept_here]
    assert {model for model, _ in registered if model._meta.app_label == "chat"} - kept_here == set(MODELS)
    assert [each for each in ours if not isinstance(each, ReadOnly)] == []


# --- what it shows --------------------------------------------------------------------------------------------------
def cells(html: str, title: str) -> list[list[str]]:
    """The rows of the table in the field of this title, as text."""
    field = html.split(f"<label>{title}:</label>", 1)[1].split("</fieldset>", 1)[0]
    lines = re.findall(r"<tr>(.*?)</tr>", field.split("</table>", 1)[0], re.DOTALL)
    return [
        [re.sub("<[^>]+>", "", cell) for cell in re.findall(r"<td>(.*?)</td>", line)] for line in lines[1:]
    ]


def test_the_journal_reads_as_a_timeline(root: Client, rows: tuple[Generation, Generation]) -> None:
    html = text_of(root, address(Generation, "change", rows[0].pk))
    moves = cells(html, "Journal")
    assert [[move[0], *move[3:8], move[9]] for move in moves] == [
        ["1", "queued", "opened", "received", "runner-1", "-", "1"],
        ["2", "received", "first_delta", "buffered", "runner-1", "-", "1"],
        ["3", "buffered", "ended_short", "incomplete", "runner-1", "stream_truncated", "1"],
    ]
    assert all(re.fullmatch(r"\+\d+\.\d{3} s", move[2]) for move in moves)
    assert moves[2][8] == "&lt;b&gt;broken&lt;/b&gt;"  # a provider's words stay words


def test_attempts_are_linked_both_ways_and_the_message_stands_beside(
    root: Client, rows: tuple[Generation, Generation]
) -> None:
    first, second = rows
    one = text_of(root, address(Generation, "change", first.pk))
    two = text_of(root, address(Generation, "change", second.pk))
    message = Message.objects.get(kind="answer")
    assert f'<a href="{address(Generation, "change", second.pk)}">generation 2 (confirmed)</a>' in one
    assert f'<a href="{address(Generation, "change", first.pk)}">generation 1 (incomplete)</a>' in two
    assert f'<a href="{address(Message, "change", message.pk)}">' in two
    assert "(answer)" not in one
    assert cells(two, "Checks") == [
        [name, "passed", "-"]
        for name in (
            "terminal_evidence",
            "order_and_integrity",
            "calls_were_offered",
            "not_empty",
            "length",
            "policy",
        )
    ]
    assert cells(one, "Draft as last saved") == [["answer", "Two"], ["reasoning", "Think."]]


def test_every_fact_of_a_generation_is_on_its_page() -> None:
    """A column that is added later must not be forgotten."""
    shown = [name for _, options in GenerationAdmin.fieldsets for name in options["fields"]]
    columns = {field.name for field in Generation._meta.get_fields() if field.concrete} - {"checks"}
    computed = {"answer", "checks_made", "journal", "draft", "tried_again_by", "calls", "calls_journal"}
    assert (len(shown), set(shown)) == (len(set(shown)), columns | computed)


def test_every_fact_of_a_tool_call_is_on_its_page() -> None:
    shown = [name for _, options in ToolCallAdmin.fieldsets for name in options["fields"]]
    columns = {field.name for field in ToolCall._meta.get_fields() if field.concrete}
    assert (len(shown), set(shown)) == (len(set(shown)), columns | {"journal"})


def test_what_a_model_called_stands_with_its_reply_and_was_never_run(
    root: Client, rows: tuple[Generation, Generation]
) -> None:
    """What was asked for, word for word, and each move of each call; the arguments go when the conversation does."""
    row = called()
    html = text_of(root, address(Generation, "change", row.pk))
    said = "{&quot;near&quot;: &quot;Secret street&quot;, &quot;why&quot;: &quot;&lt;i&gt;&quot;}"
    assert cells(html, "Calls") == [
        ["call 1 of find_gym (rejected)", "unexpected_tool_call", "call_1", "39", said],
        ["call 2 of log_set (rejected)", "unexpected_tool_call", "call_2", "2", "{}"],
    ]
    first = row.tool_calls.get(name="find_gym")
    assert f'<a href="{address(ToolCall, "change", first.pk)}">call 1 of find_gym' in html
    moves = cells(html, "Their journal")
    assert [[move[0], *move[3:8]] for move in moves] == [
        ["1", "proposed", "denied", "rejected", "runner-1", "unexpected_tool_call"]
    ]
    assert html.split("Their journal:", 1)[1].count("<td>denied</td>") == 2
    page = text_of(root, address(ToolCall, "change", first.pk))
    assert [[move[0], *move[3:8]] for move in cells(page, "Journal")] == [
        ["1", "proposed", "denied", "rejected", "runner-1", "unexpected_tool_call"]
    ]
    assert (said in page, address(Generation, "change", row.pk) in page) == (True, True)
    conversations.delete(conversation_of(row), by=None)
    for url in (address(Generation, "change", row.pk), address(ToolCall, "change", first.pk)):
        after = text_of(root, url)
        assert ("Secret street" in after, "find_gym" in after) == (False, True)


def test_what_was_called_is_shown_to_those_who_may_look_at_calls(rows: tuple[Generation, Generation]) -> None:
    eva = client_of("eva", "view_generation", is_staff=True)
    max_ = client_of("max", "view_generation", "view_toolcall", is_staff=True)
    url = address(Generation, "change", called().pk)
    shown = [
        ("Secret street" in text_of(client, url), "Tool calls" in text_of(client, url))
        for client in (eva, max_)
    ]
    assert shown == [(False, False), (True, True)]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", 2),
        ("name=find_gym", 1),
        ("name=launch_rocket", 0),
        ("state__exact=rejected", 2),
        ("state__exact=executed", 0),
        ("created__gte=2000-01-01 00:00:00%2B00:00", 2),
        ("created__year=2000", 0),
        ("q=call_2", 1),
        ("q=log_s", 1),
        ("q=street", 0),
    ],
)
def test_calls_can_be_searched_and_filtered(
    root: Client, rows: tuple[Generation, Generation], query: str, found: int
) -> None:
    html = text_of(root, f"{address(ToolCall, 'changelist')}?{query}")
    assert len(re.findall(r'<th class="field-created', html)) == found


def test_calls_are_filtered_by_state_tool_and_day(root: Client, rows: tuple[Generation, Generation]) -> None:
    html = text_of(root, address(ToolCall, "changelist"))
    offers = ("?name=find_gym", "?name=log_set", "?state__exact=rejected", "?created__gte=", "?created__day=")
    assert [offer for offer in offers if offer not in html] == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=ana", 2),
        ("q=ana@example", 2),
        ("q=chatcmpl-1", 2),
        ("q=nobody", 0),
        ("state__exact=confirmed", 1),
        ("reason=stream_truncated", 1),
        ("endpoint=scripted&model=scripted-1", 3),
        ("endpoint=other", 0),
        ("created__gte=2000-01-01 00:00:00%2B00:00", 3),
        ("created__year=2000", 0),
    ],
)
def test_lists_can_be_searched_and_filtered(
    root: Client, rows: tuple[Generation, Generation], query: str, found: int
) -> None:
    html = text_of(root, f"{address(Generation, 'changelist')}?{query}")
    assert len(re.findall(r'<th class="field-created', html)) == found


def test_replies_are_filtered_by_who_asked(root: Client, rows: tuple[Generation, Generation]) -> None:
    """Those who asked last are offered, and whoever is looked at; an address that names nobody finds nothing."""
    ana, eva = rows[0].user_id, person("eva").pk
    sent(person("bia"))
    url = address(Generation, "changelist")
    found = {
        chosen: len(re.findall(r'<th class="field-created', text_of(root, f"{url}?user={chosen}")))
        for chosen in ("", ana, eva, "x", "9" * 40, "1" * 18)
    }
    assert found == {"": 4, ana: 2, eva: 0, "x": 0, "9" * 40: 0, "1" * 18: 0}
    assert [f"?user={pk}" in text_of(root, url) for pk in (ana, eva)] == [True, False]
    assert f"?user={eva}" in text_of(root, f"{url}?user={eva}")


def test_messages_stand_newest_first_and_moments_have_seconds(
    root: Client, rows: tuple[Generation, Generation]
) -> None:
    """Two replies within a minute would look as one, and the last message is the one that is looked for."""
    html = text_of(root, address(Message, "changelist"))
    newest = Message.objects.order_by("-created")
    found = re.findall(r'class="field-created[^>]*><a [^>]*>([^<]*)<', html)
    assert found == [f"{message.created:%Y-%m-%d %H:%M:%S}" for message in newest]
    assert html.count("Django administration") == 0
    page = text_of(root, address(Message, "change", newest[0].pk))
    assert f"message {newest[0].pk} ({newest[0].get_kind_display()})" in page


def test_an_id_is_found_as_it_is_written_elsewhere(root: Client, rows: tuple[Generation, Generation]) -> None:
    """With its hyphens, from a log or an address."""
    for model, key in (
        (Generation, rows[0].pk),
        (JournalRow, rows[0].pk),
        (Message, Message.objects.all()[0].pk),
    ):
        html = text_of(root, f"{address(model, 'changelist')}?q={key}")
        assert "0 results" not in html
        assert 'class="results"' in html


def test_a_list_takes_the_same_queries_for_any_number_of_rows(
    root: Client, rows: tuple[Generation, Generation], django_assert_max_num_queries: Any
) -> None:
    ana = rows[0].user
    assert ana is not None
    for number in range(20):
        sent(ana, f"{number}?")
    for model in MODELS:
        with django_assert_max_num_queries(14):
            text_of(root, address(model, "changelist"))


def test_presets_for_everybody_are_made_here(root: Client) -> None:
    """Those of a person are nobody else's to read, administrators included."""
    Preset.objects.create(user_id=person("eva").pk, name="Hers", text="Her words")
    assert (
        root.post(reverse("admin:chat_preset_add"), {"name": "Ours", "text": "Be kind."}).status_code == 302
    )
    ours = Preset.objects.get(user=None)
    assert (ours.name, ours.text) == ("Ours", "Be kind.")
    text = text_of(root, reverse("admin:chat_preset_changelist"))
    assert ("Ours" in text, "Hers" in text) == (True, False)
    again = root.post(reverse("admin:chat_preset_add"), {"name": " Ours ", "text": "Be strict."})
    assert (again.status_code, "There is a preset of this name already." in again.content.decode()) == (
        200,
        True,
    )


def test_two_administrators_at_the_same_moment(root: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one was checked before the first one's row was there: told, and no broken page."""
    monkeypatch.setattr(PresetForm, "clean_name", lambda form: form.cleaned_data["name"])
    Preset.objects.create(name="Ours", text="Be kind.")
    add = reverse("admin:chat_preset_add")
    answer = root.post(add, {"name": "Ours", "text": "Be strict."}, follow=True)
    assert answer.redirect_chain == [(add, 302)]
    assert "Somebody else saved the same in this moment." in answer.content.decode()
    assert [row.text for row in Preset.objects.all()] == ["Be kind."]


# --- what an administrator decides ----------------------------------------------------------------------------------
def test_a_gate_is_switched_and_the_log_keeps_both_values(root: Client) -> None:
    """Who looks later must see who did it, and what held before."""
    form = {"endpoint": "openai", "model": "gpt-x", "gate": "window", "chars": "80"}
    assert root.post(address(GatePolicy, "add"), form).status_code == 302
    row = GatePolicy.objects.get()
    changed = {**form, "gate": "whole", "chars": "", "for_health": "on"}
    assert root.post(address(GatePolicy, "change", row.pk), changed).status_code == 302
    row.refresh_from_db()
    assert (row.spelled, row.for_health, str(row.changed_by)) == ("whole", True, "root")
    told = list(LogEntry.objects.order_by("pk").values_list("user__username", "change_message"))
    assert told == [
        ("root", "Added openai:gpt-x: window 80"),
        ("root", "Now openai:gpt-x: whole; gate was 'window', chars was 80, for_health was False"),
    ]


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("gate", "ajar", "Select a valid choice. ajar is not one"),
        ("endpoint", "nowhere", "Select a valid choice. nowhere is not one"),
        ("chars", "0", "greater than or equal to 1"),
        ("chars", "100001", "less than or equal to 100000"),
    ],
)
def test_a_gate_that_could_not_be_made_is_refused(
    root: Client, field: str, value: str, sentence: str
) -> None:
    form = {"endpoint": "openai", "model": "", "gate": "window", "chars": "80", field: value}
    response = root.post(address(GatePolicy, "add"), form)
    assert (response.status_code, sentence in response.content.decode()) == (200, True)
    assert not GatePolicy.objects.exists()


@pytest.mark.django_db
def test_staff_without_permission_switches_no_gate() -> None:
    eva = client_of("eva", is_staff=True)
    assert eva.post(address(GatePolicy, "add"), {"endpoint": "openai", "gate": "whole"}).status_code == 403
    assert not GatePolicy.objects.exists()


def test_the_chosen_gate_stands_on_the_page_of_a_generation(root: Client) -> None:
    row = sent(person("ida"), "My knee hurts")
    page = text_of(root, address(Generation, "change", row.pk))
    assert ("whole" in page, "health: pain" in page) == (True, True)
