"""The laws of the house, read off its source: floors, the mirror, sizes, and who may write a state."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chat.conf import KNOBS
from tests.source import CHAT, ROOT, modules, name_of, tracked, tree_of

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
    """Every giant was born where input met mapping, or sync met async; a test that long is read by nobody."""
    long = {
        name_of(path): lines
        for path in tracked(".py", ".js", ".mjs", ".css", ".html")
        if not {"migrations", "vendor"} & set(path.relative_to(ROOT).parts)
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
