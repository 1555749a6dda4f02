"""Try what `make release` built, in a clean environment without extras: `python release.py DIST ENVIRONMENT`."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from contextlib import contextmanager
from pathlib import Path

MOST_MEGABYTES = 600
IN_THE_WHEEL = ("py.typed", "_version.py", "protocol/schema.json", "reports/templates/report.html")
PROTOCOL = """format = 1
[study]
name = "smoke"
[battery]
source = "pairs"
path = "pairs.csv"
[battery.columns]
id = "@row"
[criteria.neutral]
rubric = "neutral"
[[configuration]]
name = "judge"
backend = "openai-chat"
base_url = "{url}"
model = "simulated"
[schedule]
seed = 1
[capture]
in_flight = 8
[gates]
clone_threshold = 0.05
utility_threshold = 0.75
"""


def main(dist: Path, environment: Path) -> None:
    """Check the files, then a whole audit of a simulated judge with the installed program."""
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
    for name in IN_THE_WHEEL:
        assert f"darkcurrent/{name}" in names, f"{name} is not in the wheel"
    assert not [name for name in names if name.startswith(("tests/", "docs/", "design/"))]
    with tarfile.open(sdist) as files:
        assert any(name.endswith("/tests/conftest.py") for name in files.getnames())
    bill = json.loads((dist / "darkcurrent.cdx.json").read_text(encoding="utf-8"))
    listed = {component["name"] for component in bill["components"]}
    assert {"darkcurrent", "aiohttp", "polars", "scipy"} <= listed
    assert not listed & {"pytest", "ray", "xllamacpp"}, "the SBOM is that of the base"
    megabytes = (
        sum(path.lstat().st_size for path in environment.rglob("*") if path.is_file() and _is_ours(path))
        / 2**20
    )
    assert megabytes < MOST_MEGABYTES, f"the base takes {megabytes:.0f} MB"
    with tempfile.TemporaryDirectory() as folder:
        said = audit(Path(folder), environment)
    print(  # noqa: T201
        f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MB, installed {megabytes:.0f} MB; {said}"
    )


def _is_ours(path: Path) -> bool:
    """Say whether the installation brought a file: the environment has its own installer before."""
    return not {"pip", "setuptools", "pkg_resources"} & set(path.parts)


def audit(folder: Path, environment: Path) -> str:
    """Go from a table to a report, and to a sentence where an extra is missing."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL"))}

    def program(*arguments: str, code: int = 0) -> str:
        command = [environment / "bin" / "darkcurrent", *arguments]
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    @contextmanager
    def served(*options: str):
        command = [environment / "bin" / "darkcurrent", "simulate", *options]
        with subprocess.Popen(
            command, cwd=folder, env=variables, stdout=subprocess.PIPE, text=True
        ) as server:
            try:
                yield server.stdout.readline().strip()
            finally:
                server.kill()

    began = time.perf_counter()
    assert program("--version").strip().startswith("darkcurrent ")
    assert "freeze" in program("--help")
    (folder / "study").mkdir()
    with (folder / "study" / "pairs.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["prompt", "chosen", "rejected"])
        table.writerows([f"{n} + {n}?", str(2 * n), str(2 * n + 1)] for n in range(80))
    with served() as url:
        (folder / "study" / "protocol.toml").write_text(PROTOCOL.format(url=url), encoding="utf-8")
        program("freeze", "study")
        program("run", "study")
    program("report", "study")
    assert "</html>" in (folder / "study" / "report.html").read_text(encoding="utf-8")
    assert "neutral" in program("gate", "study", code=3), "it does not know the answers: utility is missed"
    assert "darkcurrent[local]" in program("quickstart", "embedded", code=2)
    completed = subprocess.run(
        [environment / "bin" / "darkcurrent"],
        env={
            **variables,
            "_DARKCURRENT_COMPLETE": "complete_bash",
            "COMP_WORDS": "darkcurrent fre",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    assert completed.split() == ["freeze"], f"completion gives {completed!r}"
    return f"an audit of a simulated judge took {time.perf_counter() - began:.0f} s"


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
