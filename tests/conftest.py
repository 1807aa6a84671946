"""What every test gets; the first part makes a skip impossible in CI."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

# --- what the application wants to find -----------------------------------------------------------------------


def pytest_configure() -> None:
    """What a fresh checkout lacks: the folder of collected files, whose absence whitenoise tells, and the .mo files."""
    from django.conf import settings

    from gymnasia import words

    Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)
    words.compile_all()  # as ./run does


# Where a server process or a second program brings a database of its own, the one of the tests is not what is tried.
APART = {"browser", "chaos", "management", "slow", "bench"}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Whatever touches the database of the tests is tried on both: `./run test` runs these a second time, on PostgreSQL."""
    touches = item.get_closest_marker("django_db") or {"db", "transactional_db"} & set(
        getattr(item, "fixturenames", ())
    )
    apart = APART & set(item.path.relative_to(Path(__file__).parent).parts)
    if touches and not apart and not item.get_closest_marker("sqlite_only"):
        item.add_marker("domain")


# --- several processes (`-n`): one file is one process's, the long ones first ---------------------------------------
# Folders whose files start servers and browsers, and wait for real clocks: begun last, one of them would run alone. A folder
# stays together, for what its files share is set up once per process.
LONG = ("browser", "served", "bench", "management", "chaos", "engine")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort by folder; within one, as collected."""
    if not hasattr(config, "workerinput"):
        return
    here = Path(__file__).parent

    def place(item: pytest.Item) -> int:
        folder = item.path.relative_to(here).parts[0]
        return LONG.index(folder) if folder in LONG else len(LONG)

    items.sort(key=place)


# --- no skips in CI: begin ----------------------------------------------------------------------------------
# A skip is a test that says nothing and looks green. At a desk it is allowed (no Chromium, no Node); with
# CI=true every skip, expected failure and unexpected pass is an error, when collected as well as when run.
STRICT = os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def _forbid(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = getattr(report, "wasxfail", None)
    if reason is None and report.outcome != "skipped":
        return
    if reason is None:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    else:
        # Left in place, the attribute would make the terminal count the report as an expected failure.
        del report.wasxfail
    report.outcome = "failed"
    report.longrepr = f"not run, and CI=true lets nothing be left out: {reason or 'no reason given'}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skipped or expected-to-fail test into a failure."""
    report = yield
    if STRICT:
        _forbid(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn a module that skips itself while it is collected into an error."""
    report = yield
    if STRICT:
        _forbid(report)
    return report


# --- no skips in CI: end ------------------------------------------------------------------------------------
