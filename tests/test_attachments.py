"""Files that go along: known by their bytes, kept whole with their message, shown to models that can take them."""

import pytest
from pytest_django import Settings

from chat import attachments, running
from chat.attachments import NotTaken, Upload
from chat.models import Attachment, AttachmentKind, Conversation, Message
from chat.providers.base import Image, Turn
from tests.rows import claimed, ended, person, reading, sent

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 8
CAT = Upload("cat.png", AttachmentKind.PICTURE, "image/png", 16, data=PNG)
NOTES = Upload("notes.md", AttachmentKind.TEXT, "text/plain", 9, text="# Monday\n")


@pytest.mark.parametrize(
    ("name", "data", "upload"),
    [
        ("cat.png", PNG, CAT),
        ("lies.txt", PNG, CAT._replace(name="lies.txt")),
        (
            "a.jpg",
            b"\xff\xd8\xff\xe0abc",
            Upload("a.jpg", AttachmentKind.PICTURE, "image/jpeg", 7, "", b"\xff\xd8\xff\xe0abc"),
        ),
        ("a.gif", b"GIF89a..", Upload("a.gif", AttachmentKind.PICTURE, "image/gif", 8, "", b"GIF89a..")),
        (
            "a",
            b"RIFF0000WEBPVP8 ",
            Upload("a", AttachmentKind.PICTURE, "image/webp", 16, "", b"RIFF0000WEBPVP8 "),
        ),
        ("notes.md", b"# Monday\n", NOTES),
        (
            "dos.txt",
            b"\xef\xbb\xbfa\r\nb\rc",
            Upload("dos.txt", AttachmentKind.TEXT, "text/plain", 9, "a\nb\nc"),
        ),
        ("x.svg", b"<svg/>", Upload("x.svg", AttachmentKind.TEXT, "text/plain", 6, "<svg/>")),
    ],
)
def test_what_a_file_is_its_bytes_say(name: str, data: bytes, upload: Upload) -> None:
    """Neither the name nor the browser is believed; an SVG is text, never a picture of ours."""
    assert attachments.read(name, data) == upload


@pytest.mark.parametrize(
    ("data", "why", "limit"),
    [
        (b"", "empty", 0),
        (b" \n\t", "empty", 0),
        (b"%PDF-1.7\xe2\xe3", "unknown", 0),
        (b"a\x00b", "unknown", 0),
        ("é".encode("latin-1"), "unknown", 0),
        (PNG + b"\x00" * 100, "picture_too_large", 100),
        (b"a" * 51, "text_too_long", 50),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name(
    settings: Settings, data: bytes, why: str, limit: int
) -> None:
    settings.GYMNASIA = settings.GYMNASIA.but(max_picture_bytes=100, max_file_chars=50)
    with pytest.raises(NotTaken) as caught:
        attachments.read("C:\\me\\f", data)
    assert (caught.value.name, caught.value.why, caught.value.limit) == ("f", why, limit)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ('a"<b>\n.txt', "ab.txt"),
        ("", "file"),
        ("..", ".."),
        ("x" * 300 + ".csv", "x" * 196 + ".csv"),
        ("y" * 300, "y" * 200),
    ],
)
def test_a_name_can_stand_anywhere(given: str, kept: str) -> None:
    assert attachments.plain_name(given) == kept


@pytest.mark.django_db
def test_files_are_kept_with_their_message_and_go_with_it() -> None:
    row = sent(person(), files=[CAT, NOTES])
    message = Message.objects.get()
    kept = [(a.position, a.name, a.kind, a.size, a.text, a.data) for a in message.attachments.all()]
    assert kept == [
        (0, "cat.png", "picture", 16, "", PNG),
        (1, "notes.md", "text", 9, "# Monday\n", None),
    ]
    ended(row, reading())
    Conversation.objects.get().delete()
    assert Attachment.objects.count() == 0


@pytest.mark.django_db
def test_another_version_of_a_message_has_the_same_files() -> None:
    sent(person(), files=[CAT, NOTES])
    old = Message.objects.get()
    new = Message.objects.create(conversation=old.conversation, kind="user", text="Again?")
    attachments.copy(old, new)
    assert [(a.name, a.text, a.data) for a in new.attachments.all()] == [
        ("cat.png", "", PNG),
        ("notes.md", "# Monday\n", None),
    ]
    attachments.keep(new, [NOTES])
    assert [a.position for a in new.attachments.all()] == [0, 1, 2]


@pytest.mark.django_db
def test_a_model_is_shown_what_it_can_take() -> None:
    """Files stand before the question; a picture that it cannot see is named, so that it does not make one up."""
    row = sent(person(), files=[CAT, NOTES])
    file = '<file name="notes.md">\n# Monday\n\n</file>'
    picture = Image("image/png", "iVBORw0KGgoAAAAAAAAAAA==")
    question = Message.objects.get()
    assert running.history(question, sees=True) == [Turn("user", f"{file}\n\nHow long?", images=[picture])]
    unseen = "[picture cat.png: not shown, this model takes no pictures]"
    blind = [Turn("user", f"{unseen}\n\n{file}\n\nHow long?")]
    assert running.history(question, sees=False) == blind
    assert claimed(row).prompt.turns == blind  # the scripted model does not see
