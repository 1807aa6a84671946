"""The front door's cheap promises: words, ports, folders, no skips in CI; CI walks the install itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(*words: str, cwd: Path = ROOT, **environment: str) -> tuple[int, str, str]:
    """What `./run` with these words gives, prints and says, called from another folder."""
    done = subprocess.run(
        [ROOT / "run", *words],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


USAGE = """\
usage: ./run                  install what is missing and serve on 127.0.0.1:${PORT:-8000}
       ./run test [words]     install what is missing and run the tests; words go to pytest
       ./run check            lint, types, layers, migrations
       ./run chaos [words]    generations under faults on a real server: --runs N --seed S
"""


def test_help_tells_the_words(tmp_path: Path) -> None:
    """From any folder, and without installing a thing."""
    assert run("--help", cwd=tmp_path) == (0, "", USAGE)


def test_an_unknown_word_is_told(tmp_path: Path) -> None:
    """A typing error must not start a server."""
    assert run("tset", cwd=tmp_path) == (2, "", f"run: unknown word 'tset'\n{USAGE}")


@pytest.mark.parametrize("port", ["65536", "http", "80 80", "-1", "999999999999999999999"])
def test_a_bad_port_is_one_clear_line(port: str) -> None:
    """Before anything is installed."""
    assert run(PORT=port) == (1, "", f"run: PORT must be a number from 0 (any) to 65535, not '{port}'\n")


def test_a_data_folder_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    """Tests may run as root, whom no permission stops: a file in the way stops everybody."""
    (tmp_path / "file").touch()
    folder = str(tmp_path / "file" / "data")

    assert run(GYMNASIA_DATA=folder) == (
        1,
        "",
        f"run: cannot write in the data folder '{folder}' (GYMNASIA_DATA): conversations are kept there\n",
    )


@pytest.mark.parametrize(
    ("ci", "counts"), [("", "1 passed, 1 skipped, 1 xfailed"), ("true", "2 failed, 1 passed")]
)
def test_a_skip_fails_in_ci_only(tmp_path: Path, ci: str, counts: str) -> None:
    """By the very lines of this suite's conftest."""
    _, part, _ = (ROOT / "tests" / "conftest.py").read_text().split("# --- no skips in CI: ")
    head = "import os\nfrom collections.abc import Generator\n\nimport pytest\n\n# "
    (tmp_path / "conftest.py").write_text(head + part)
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "def test_runs(): pass\n"
        "def test_skips(): pytest.skip('no reason')\n"
        "@pytest.mark.xfail\n"
        "def test_fails(): raise ValueError\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:django", "-p", "no:cacheprovider", tmp_path],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "CI": ci},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stdout.strip().split("\n")[-1].split(" in ")[0] == counts
