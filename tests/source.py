"""The project's own source, for the tests that read laws off it.

Takes nothing; gives paths, their names and their syntax trees. Knows no law.
"""

import ast
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHAT = ROOT / "chat"


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
