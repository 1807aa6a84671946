"""What is sent is the source without its notes: every line of code is there, on its own line."""

from pathlib import Path

import pytest
from django.core.files.base import ContentFile

from chat.collected import CollectedFiles, bare

STATIC = Path(__file__).parents[1] / "chat" / "static" / "chat"
OURS = sorted([*STATIC.glob("js/*.js"), *STATIC.glob("css/*.css")])


def test_lines_of_comments_are_empty_and_all_others_as_they_were() -> None:
    source = '// a\n/**\n * b\n */\nlet c = "/* d */"; // e\n  /* f */ g();\n\t/* h */\nconst i = `// j`;\n'
    assert bare(source) == '\n\n\n\nlet c = "/* d */"; // e\n  /* f */ g();\n\nconst i = `// j`;\n'


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in OURS])
def test_no_line_of_code_goes_with_them(path: Path) -> None:
    """Of each file: what is left empty begins as a comment does; and no text over several lines holds anything like it."""
    source = path.read_text(encoding="utf-8")
    inside = False
    for line, sent in zip(source.split("\n"), bare(source).split("\n"), strict=True):
        text = line.strip()
        begins = text.startswith(("//", "/*"))
        if sent != line:
            assert sent == ""
            assert inside or begins, line
            inside = (inside or text.startswith("/*")) and not text.endswith("*/")
    assert not inside


def test_only_ours_are_changed(tmp_path: Path) -> None:
    files = CollectedFiles(location=tmp_path)
    for name in ("chat/js/x.js", "chat/css/x.css", "vendor/x/x.mjs", "admin/js/x.js"):
        (
            content := ContentFile(b"// note\ncode();\n")
        ).read()  # as Django leaves it, which has named it by its content
        files.save(name, content)
    found = {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("x.*")}
    assert found == {
        "chat/js/x.js": "\ncode();\n",
        "chat/css/x.css": "\ncode();\n",
        "vendor/x/x.mjs": "// note\ncode();\n",
        "admin/js/x.js": "// note\ncode();\n",
    }


def test_a_file_is_named_by_what_is_sent() -> None:
    """A browser keeps it under that name for years."""
    files = CollectedFiles()
    noted, plain = ContentFile(b"// note\ncode();\n"), ContentFile(b"\ncode();\n")
    assert files.file_hash("chat/js/x.js", noted) == files.file_hash("chat/js/x.js", plain)
    assert files.file_hash("vendor/x.mjs", noted) != files.file_hash("vendor/x.mjs", plain)
