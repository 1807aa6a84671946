"""The laws of the house, read off its source: floors, the mirror, sizes, and who may write a state."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat.conf import KNOBS
from chat.states import diagram, toolcall
from chat.states.generation import State, Trigger
from chat.streaming.draft import LANES
from chat.streaming.gates import GATES
from gymnasia import reference

ROOT = Path(__file__).parents[1]
CHAT = ROOT / "chat"
LINES_MAX = 400

# Modules that have no test file of their own name, and where they are proven instead.
MIRRORED_ELSEWHERE = {
    "chat/apps.py": "tests/test_conversations.py deletes through every door that it watches",
    "chat/routing.py": "tests/test_consumers.py opens sockets through it",
    "chat/urls.py": "tests/views/ ask for each address",
    "chat/serving.py": "tests/management/test_serve.py and tests/browser/ run the server that it is",
    "chat/local_model_server.py": "tests/test_local_model.py runs it as the child that it is",
}

# Scripts that do nothing but move a page, and where a real browser does that.
SCRIPTS_IN_THE_BROWSER = {
    "code": "tests/browser/test_keyboard.py copies and wraps code",
    "organise": "tests/browser/test_organise.py pins, renames, deletes",
    "page": "tests/browser/ opens every page through it",
    "paint": "tests/browser/test_painting.py paints every construct at random cuts",
    "theme": "tests/browser/test_keyboard.py chooses the dark by a key",
    "thread": "tests/browser/test_coming_back.py gives it frames in every order",
}


def tracked(*endings: str) -> list[Path]:
    """The project's own files: what git knows or would take, else everything outside of what is installed."""
    asked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = asked.stdout.splitlines() if asked.returncode == 0 else walked()
    paths = [ROOT / name for name in names]
    return [path for path in paths if path.is_file() and (not endings or path.suffix in endings)]


def walked() -> list[str]:
    aside = {".git", ".venv", "var", "node_modules", "vendor", "__pycache__", "staticfiles"}
    inside = (path.relative_to(ROOT) for path in ROOT.rglob("*"))
    return [str(path) for path in inside if not aside & set(path.parts) and "_cache" not in str(path)]


def modules() -> list[Path]:
    return [path for path in sorted(CHAT.rglob("*.py")) if "migrations" not in path.parts]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


# --- floors ---------------------------------------------------------------------------------------------------------
def test_every_floor_imports_only_what_stands_below_it() -> None:
    """The contracts stand in pyproject.toml; a new module without a floor is an error too. In a process of its own: the
    tool sets up logging anew and would silence every logger of the tests that follow."""
    lint = "import sys; from importlinter import cli; sys.exit(cli.lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_core_loads_without_a_framework_a_network_or_a_clock() -> None:
    """In a process of its own: what an import pulls in behind it is seen there and nowhere else."""
    show = "import sys, chat.streaming.pipeline, chat.states.diagram; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", show], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    forbidden = {
        "django",
        "channels",
        "httpx",
        "aiohttp",
        "asyncio",
        "socket",
        "ssl",
        "sqlite3",
        "random",
        "secrets",
    }
    assert loaded & forbidden == set()
    assert "chat" in loaded


def test_one_module_imports_an_http_client() -> None:
    found = [
        name_of(path)
        for path in modules()
        if re.search(
            r"^\s*(import|from) (httpx|aiohttp|requests|urllib\.request|http\.client)\b",
            path.read_text(),
            re.MULTILINE,
        )
    ]
    assert found == ["chat/upstream.py"]


# --- shape ----------------------------------------------------------------------------------------------------------
def test_every_module_has_its_test_file() -> None:
    """Whoever changes a module finds its tests beside it."""
    missing = []
    for path in modules():
        inside = path.relative_to(CHAT)
        parts = [part for part in inside.parts[:-1] if part not in {"management", "commands"}]
        folder = (
            ROOT / "tests" / Path(*parts)
            if "management" not in inside.parts
            else ROOT / "tests" / "management"
        )
        stem = "init" if path.name == "__init__.py" else path.stem
        is_empty = path.name == "__init__.py" and not any(
            isinstance(node, ast.FunctionDef | ast.ClassDef) for node in tree_of(path).body
        )
        if is_empty or name_of(path) in MIRRORED_ELSEWHERE:
            continue
        if not (folder / f"test_{stem}.py").exists():
            missing.append(name_of(path))
    assert missing == []


def test_the_exceptions_of_the_mirror_are_still_needed() -> None:
    gone = [name for name in MIRRORED_ELSEWHERE if not (ROOT / name).exists()]
    assert gone == []


def test_every_script_has_its_test_file() -> None:
    """Or is named with the walk that proves it; a walk that is not needed any more is no excuse."""
    scripts = {path.stem for path in (CHAT / "static/chat/js").glob("*.js")}
    tests = {path.name.removesuffix(".test.js") for path in (ROOT / "tests/js").glob("*.test.js")}
    assert (scripts - tests, tests - scripts) == (set(SCRIPTS_IN_THE_BROWSER), set())
    walks = [ROOT / why.split()[0] for why in SCRIPTS_IN_THE_BROWSER.values()]
    assert [str(path) for path in walks if not path.exists()] == []


def test_no_module_is_longer_than_a_sitting() -> None:
    """Every giant was born where input met mapping, or sync met async."""
    long = {
        name_of(path): lines
        for path in tracked(".py", ".js", ".css")
        if not {"tests", "migrations", "vendor"} & set(path.relative_to(ROOT).parts)
        and (lines := len(path.read_text(encoding="utf-8").split("\n")) - 1) > LINES_MAX
    }
    assert long == {}


def test_every_module_says_what_it_is() -> None:
    assert [name_of(path) for path in modules() if not ast.get_docstring(tree_of(path))] == [
        name_of(path) for path in modules() if path.name == "__init__.py" and not path.read_text().strip()
    ]


def test_no_module_is_named_after_nothing() -> None:
    vague = {
        "utils",
        "util",
        "helpers",
        "helper",
        "misc",
        "common",
        "manager",
        "managers",
        "services",
        "service",
    }
    assert [name_of(path) for path in tracked(".py", ".js") if path.stem in vague] == []


# --- laws -----------------------------------------------------------------------------------------------------------
def test_a_stream_is_never_cut_at_what_python_calls_lines() -> None:
    """Those also end at U+2028, U+0085 and form feeds, which stand inside of answers."""
    pattern = re.compile(r"\b(splitlines|aiter_lines|iter_lines|readlines?)\b")
    assert [name_of(path) for path in modules() if pattern.search(path.read_text(encoding="utf-8"))] == []


WRITERS = {
    "update",
    "create",
    "bulk_create",
    "bulk_update",
    "get_or_create",
    "update_or_create",
    "aupdate",
    "acreate",
}


def state_writes(tree: ast.AST) -> Iterator[int]:
    """Lines that write a `state`: as an argument of a query, of the model, as an attribute, or by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            named = {keyword.arg for keyword in node.keywords}
            texts = [arg.value for arg in ast.walk(node) if isinstance(arg, ast.Constant)]
            if called in WRITERS | {"Generation", "ToolCall"} and ("state" in named or "state" in texts):
                yield node.lineno
            if called == "setattr" and "state" in texts:
                yield node.lineno
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and any(
            isinstance(target, ast.Attribute) and target.attr == "state" for target in targets
        ):
            yield node.lineno


@pytest.mark.parametrize(
    "line",
    [
        "rows.update(state='failed')",
        "Generation.objects.filter(pk=1).update(**{'state': 'failed'})",
        "Generation.objects.create(state=x)",
        "Generation(state=x)",
        "ToolCall(state=x)",
        "row.state = 'failed'",
        "row.state: str = 'failed'",
        "setattr(row, 'state', x)",
        "Generation.objects.bulk_update(rows, ['state'])",
    ],
)
def test_the_watchman_sees_each_way_to_write_a_state(line: str) -> None:
    assert list(state_writes(ast.parse(line))) == [1]


@pytest.mark.parametrize(
    "line",
    ["rows.filter(state='failed')", "Final(state=row.state)", "x = row.state", "rows.update(stated=1)"],
)
def test_the_watchman_lets_reading_pass(line: str) -> None:
    assert list(state_writes(ast.parse(line))) == []


def test_only_the_journal_writes_a_state() -> None:
    """Whatever moves without it is in no history and beats every fence."""
    found = [
        f"{name_of(path)}:{line}"
        for path in modules()
        if path != CHAT / "journal.py"
        for line in state_writes(tree_of(path))
    ]
    assert found == []


def test_no_exception_is_swallowed_without_a_name() -> None:
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path in modules()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ExceptHandler) and node.type is None
    ]
    assert found == []


def test_every_knob_turns_something() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in modules() if path != CHAT / "conf.py")
    assert [knob.name for knob in KNOBS if not re.search(rf"\.{knob.name}\b", source)] == []


def test_nothing_names_a_registry_or_a_place_on_a_machine() -> None:
    """What is installed comes from wherever the person's own tools are set to; paths of a desk mean nothing elsewhere.

    The words are put together here, so that this file does not hold them."""
    hosts = [
        ".".join(parts)
        for parts in (
            ("py" + "pi", "org"),
            ("python" + "hosted", "org"),
            ("npm" + "js", "org"),
            ("npm" + "js", "com"),
            ("yarn" + "pkg", "com"),
            ("crates", "io"),
        )
    ]
    places = ["/" + word + "/" for word in ("wo" + "rk", "ro" + "ot", "ho" + "me", "Us" + "ers")]
    pattern = re.compile(
        "|".join([*map(re.escape, hosts), *(rf"(?<![\w.-]){re.escape(place)}" for place in places)])
    )
    found = {}
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if match := pattern.search(text):
            found[name_of(path)] = match.group()
    assert found == {}


# --- templates ------------------------------------------------------------------------------------------------------
TEMPLATES = sorted((CHAT / "templates").rglob("*.html"))
HELP_TEXT = (
    "{{ field.help_text|safe }}"  # Django's own, with a list of its own making; no person's text is in it
)


def test_templates_stand_in_the_folder_of_their_application() -> None:
    """Error pages are where Django looks for them; what overrides allauth is in allauth's folders."""
    ours = {"chat", "account", "allauth", "admin", "mfa", "socialaccount", "usersessions"}
    inside = [path.relative_to(CHAT / "templates") for path in TEMPLATES]
    stray = [
        str(path)
        for path in inside
        if path.parts[0] not in ours and not re.fullmatch(r"\d{3}(_csrf)?\.html", str(path))
    ]
    assert (stray, bool(inside)) == ([], True)


@pytest.mark.parametrize(
    ("what", "pattern"),
    [
        ("an inline style", r"<style\b|\sstyle\s*="),
        ("an inline handler", r"\son[a-z]+\s*="),
        ("an address that is a script", r"javascript:"),
        ("text that is not escaped", r"\|\s*safe\b|\|\s*safeseq\b|autoescape\s+off"),
        ("a script without its nonce", r"<script(?![^>]*\bnonce=\"{{ CSP_NONCE }}\")"),
        ("a script that is written on the page", r"<script(?![^>]*\b(src=|type=\"importmap\"))"),
        ("somebody else's host", r"(src|href|action)\s*=\s*\"(https?:)?//"),
    ],
)
def test_no_template_holds(what: str, pattern: str) -> None:
    """The policy would stop most of it in the browser; here it is stopped before."""
    found = [
        name_of(path)
        for path in TEMPLATES
        if re.search(pattern, path.read_text(encoding="utf-8").replace(HELP_TEXT, ""), re.IGNORECASE)
    ]
    assert found == [], what


def test_markup_is_called_safe_in_few_places() -> None:
    """Each of them cleans or builds it itself."""
    found = {
        name_of(path) for path in modules() if re.search(r"\bmark_safe\(|SafeString\(", path.read_text())
    }
    assert found <= {"chat/replies/reply.py", "chat/templatetags/chat_page.py"}


# --- papers ---------------------------------------------------------------------------------------------------------
def test_papers_that_are_written_from_tables_are_fresh() -> None:
    """`python -m chat.states.diagram` and `python -m gymnasia.reference` write them."""
    for written in (diagram, reference):
        assert written.PATH.read_text(encoding="utf-8") == written.render()


def test_the_glossary_has_every_word_of_the_tables() -> None:
    """Each is explained once; a word that is added to a table must be explained too."""
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    explained = re.findall(r"^\*\*(.+?)\*\*", text, re.MULTILINE)
    words = {str(word) for word in [*State, *Trigger, *toolcall.State, *toolcall.Trigger, *LANES, *GATES]}
    assert sorted(set(explained)) == sorted(explained)
    assert sorted(word for word in words if f"`{word}`" not in text) == []


def test_decisions_are_short_and_numbered() -> None:
    """Question, choice, what was refused, what would change it: one page each."""
    papers = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [path.name[:4] for path in papers] == [f"{number:04}" for number in range(1, len(papers) + 1)]
    for path in papers:
        lines = path.read_text(encoding="utf-8").split("\n")
        assert len(lines) <= 41, path.name
        found = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
        assert found == ["Question", "Choice", "Refused", "What would change it"], path.name


def test_papers_point_at_files_that_exist() -> None:
    dead = []
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        links = [path.parent / target for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text)]
        named = [ROOT / name for name in re.findall(r"`((?:chat|gymnasia|tests|bench|docs)/[\w./-]+)`", text)]
        dead += [f"{name_of(path)}: {target.name}" for target in [*links, *named] if not target.exists()]
    assert dead == []


def test_the_times_of_the_lifecycle_are_those_of_the_knobs() -> None:
    """A number in prose is forgotten first."""
    text = (ROOT / "docs" / "lifecycle.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"`(\w+)` ([\d,]+)", text))
    defaults = {knob.name: knob.default for knob in KNOBS}
    assert told
    assert {name: float(value.replace(",", "")) for name, value in told.items()} == {
        name: float(defaults[name]) for name in told
    }
