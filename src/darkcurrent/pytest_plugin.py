"""The plugin for pytest: `--darkcurrent DIR` makes each cell of a study a test, and a fixture makes an audit one.

It is loaded by every pytest that darkcurrent is installed beside: nothing else is imported before it is used.
PYTEST_DONT_REWRITE: there is no assertion here to be explained.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from darkcurrent.auditing import Audit
    from darkcurrent.reports.gates import CellGate

__all__ = ["darkcurrent_audit"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("darkcurrent", "audits of LLM judges").addoption(
        "--darkcurrent",
        action="append",
        default=[],
        metavar="DIR",
        help="a captured study: each of its cells is a test that passes where both gates do; may be repeated",
    )


@pytest.hookimpl(tryfirst=True)  # so that -k and -m choose among these tests too
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add a test for each cell of each study."""
    for folder in config.getoption("darkcurrent"):
        study = _Study.from_parent(session, name=folder, nodeid=Path(folder).as_posix())
        cells = list(study.collect())
        # Told as other collections are, so that they are counted.
        report = pytest.CollectReport(study.nodeid, "passed", None, list(cells))
        config.hook.pytest_collectreport(report=report)
        items.extend(cells)


class _Study(pytest.Collector):
    """A study's folder."""

    def collect(self) -> Iterator[pytest.Item]:
        from darkcurrent.errors import DarkcurrentError
        from darkcurrent.freshness import freshness
        from darkcurrent.reports.gates import cell_gates, with_changes
        from darkcurrent.study import Study

        study = Study(Path(self.config.invocation_params.dir, self.name))
        try:
            gates = with_changes(cell_gates(study.analyze()), freshness(study).changed)
        except DarkcurrentError as error:
            raise pytest.UsageError(f"--darkcurrent: {error}") from error
        for gate in gates:
            yield _Cell.from_parent(self, name=f"{gate.configuration}[{gate.criterion}]", gate=gate)


class _Cell(pytest.Item):
    """A cell: a missed gate is a failure, and one that says nothing about the judge an error."""

    def __init__(self, *, gate: CellGate, **node: Any) -> None:
        super().__init__(**node)
        self._gate = gate

    def setup(self) -> None:
        if self._gate.state not in ("PASS", "MISS"):
            pytest.fail(str(self._gate), pytrace=False)

    def runtest(self) -> None:
        if self._gate.state == "MISS":
            pytest.fail(str(self._gate), pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        assert self.parent is not None
        return Path(self.parent.name), None, self._gate.name


@pytest.fixture
def darkcurrent_audit(tmp_path: Path) -> Callable[..., Audit]:
    """Return `darkcurrent.audit`, with a journal in the test's own temporary folder where none is named."""
    from darkcurrent import audit

    numbers = count()

    def audited(judge: Any, pairs: Any, **options: Any) -> Audit:
        return audit(judge, pairs, **{"journal": tmp_path / f"darkcurrent-{next(numbers)}", **options})

    return audited
