"""The line on which a person writes: files that go along, and words that outlive a reload."""

import base64
import json
import struct
import zlib

import pytest
from playwright.sync_api import FilePayload, Route, expect

from tests.browser.person import NewPerson, Person
from tests.fakes.processes import ProviderProcess, ServerProcess


def png(width: int, height: int) -> bytes:
    """A picture of one colour."""

    def chunk(name: bytes, data: bytes) -> bytes:
        whole = name + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\x00" + b"\x2b\x67\x48" * width) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def payload(name: str, data: bytes, media_type: str) -> FilePayload:
    return FilePayload(name=name, mimeType=media_type, buffer=data)


def test_files_are_chosen_taken_off_sent_and_seen_again(walker: Person, provider: ProviderProcess) -> None:
    """What the chips show is what goes; a photograph goes smaller; the model gets it before the question."""
    page, text = walker.page, f"Which muscles? {walker.name}"
    notes = payload("notes.md", b"# Monday", "text/markdown")
    wide = payload("wide.png", png(4096, 16), "image/png")
    page.locator("input[name=files]").set_input_files([notes, wide])
    chips = page.locator(".composer .file")
    expect(chips).to_have_count(2)
    page.get_by_role("button", name="Take off notes.md").click()
    expect(chips).to_have_count(1)
    walker.ask(text).becomes("confirmed")
    expect(chips).to_have_count(0)
    walker.page.reload()
    picture = walker.page.locator(".turn .file img")
    expect(picture).to_have_count(1)
    size = picture.evaluate("(img) => img.decode().then(() => [img.naturalWidth, img.naturalHeight])")
    [seen] = [record for record in provider.requests() if record["user_text"] == text]
    image, words = json.loads(seen["body"])["messages"][-1]["content"]
    sent = base64.b64decode(image["image_url"]["url"].partition(",")[2])
    assert words == {"type": "text", "text": text}
    # Whichever of the two is lighter goes: of one colour, the original is.
    assert (sent, size) == (png(4096, 16), [4096, 16])


def test_who_asks_while_a_picture_is_made_ready_asks_with_it(
    walker: Person, provider: ProviderProcess
) -> None:
    """A pasted picture is in no field yet while it is shrunk: asked at that moment, the question went without it."""
    page, text = walker.page, f"And this one? {walker.name}"
    page.evaluate(
        """() => { const make = window.createImageBitmap;
        const held = new Promise((done) => (window.release = done));
        window.createImageBitmap = (file) => held.then(() => make(file)); }"""
    )
    encoded = base64.b64encode(png(16, 16)).decode()
    page.evaluate(
        """(data) => { const transfer = new DataTransfer();
        const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
        transfer.items.add(new File([bytes], "pasted.png", {type: "image/png"}));
        document.querySelector("textarea").dispatchEvent(
          new ClipboardEvent("paste", {clipboardData: transfer, bubbles: true, cancelable: true})); }""",
        encoded,
    )
    page.locator("textarea").fill(text)
    page.locator("textarea").press("Enter")
    expect(page.locator("button.ask")).to_have_attribute("aria-disabled", "true")
    page.evaluate("release()")
    expect(page.locator(".turn .file img")).to_have_count(1)
    walker.last().becomes("confirmed")
    [seen] = [record for record in provider.requests() if record["user_text"] == text]
    image, _ = json.loads(seen["body"])["messages"][-1]["content"]
    assert base64.b64decode(image["image_url"]["url"].partition(",")[2]) == png(16, 16)


def test_a_file_that_cannot_go_is_named_and_stays(walker: Person) -> None:
    page = walker.page
    page.locator("input[name=files]").set_input_files([payload("a.pdf", b"%PDF\xff", "application/pdf")])
    page.locator("textarea").fill("Read this")
    page.locator("textarea").press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("a.pdf cannot be sent")
    expect(page.locator(".composer .file")).to_have_count(1)
    expect(page.locator("textarea")).to_have_value("Read this")
    walker.forgive("400")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_plain_form_sends_files_too(server: ServerProcess, new_person: NewPerson, *, scripts: bool) -> None:
    walker = new_person(server.url, scripts=scripts)
    walker.page.locator("input[name=files]").set_input_files(
        [payload("días.txt", b"Lunes: nada", "text/plain")]
    )
    walker.ask("Resume")
    expect(walker.page.locator(".turn .file")).to_contain_text("días.txt")


def test_words_outlive_a_reload(walker: Person) -> None:
    """Until they are asked; each conversation has its own."""
    walker.page.locator("textarea").fill("Half a quest")
    walker.page.reload()
    expect(walker.page.locator("textarea")).to_have_value("Half a quest")
    walker.ask("Another thing").becomes("confirmed")
    expect(walker.page.locator("textarea")).to_have_value("")
    walker.page.reload()
    expect(walker.page.locator("textarea")).to_have_value("")


def test_escape_closes_what_is_open_before_it_stops_a_reply(walker: Person) -> None:
    page = walker.page
    reply = walker.ask("slow 30 900").has("w3")
    panel = page.locator("details.tune")
    panel.locator("summary").click()
    expect(panel).to_have_attribute("open", "")
    page.keyboard.press("Escape")
    expect(panel).not_to_have_attribute("open", "")
    seen = reply.text
    expect(reply.element.locator("[data-lane=answer]")).not_to_have_text(seen)
    assert reply.state in {"received", "buffered"}
    page.keyboard.press("Escape")
    reply.becomes("cancelled")


def test_what_is_asked_while_stop_is_on_its_way_goes_when_the_reply_has_stopped(
    walker: Person, provider: ProviderProcess
) -> None:
    """Enter did nothing then. It says that it waits, to the eye and to the ear; what is written on meanwhile stays; where
    Stop fails nothing is sent and nothing is lost."""
    page = walker.page
    first = walker.ask("held").has("w3")
    held: list[Route] = []
    page.route("**/stop/", lambda route: held.append(route))  # noqa: PLW0108 it wants a function
    line, note = page.locator("textarea"), page.locator("#composer-note")
    line.fill("held 20")
    page.keyboard.press("Escape")
    line.press("Enter")
    expect(note).to_be_visible()
    expect(page.locator("#announcer")).to_have_text(note.text_content() or "")
    line.press("Enter")
    line.press_sequentially(" and")
    assert page.locator(".question").all_text_contents() == ["held"]
    held.pop().continue_()
    first.becomes("cancelled")
    expect(page.locator(".question")).to_have_text(["held", "held 20"])
    expect(note).to_be_hidden()
    expect(line).to_have_value("and")

    second = walker.last().has("w3")
    line.fill("and then?")
    page.keyboard.press("Escape")
    line.press("Enter")
    expect(note).to_be_visible()
    held.pop().abort()
    expect(page.get_by_role("alert")).to_contain_text("Your text is kept here")
    expect(note).to_be_hidden()
    expect(line).to_have_value("and then?")
    provider.go_on()
    second.becomes("confirmed")
    expect(page.locator(".question")).to_have_count(2)
    walker.forgive("ERR_FAILED")
