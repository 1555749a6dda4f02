"""The template for Slurm, with programs in place of Slurm, Ray and darkcurrent that say what they were asked."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "cluster" / "run.sbatch"

SAY = '#!/bin/bash\necho "$(basename "$0") $*" >> "$LOG"\n'
PROGRAMS = {
    "scontrol": "#!/bin/bash\nprintf 'n1\\nn2\\nn3\\n'\n",
    "srun": SAY + 'while [[ $1 == --* ]]; do shift; done\nexec "$@"\n',
    "ray": SAY,
    "darkcurrent": SAY
    + "trap 'echo told to end >> \"$LOG\"; exit 130' TERM\n"
    + 'for _ in $(seq "${TICKS:-1}"); do sleep 0.05; done\nexit "${CODE:-0}"\n',
}


@pytest.fixture
def job(tmp_path):
    folder = tmp_path / "venv" / "bin"
    folder.mkdir(parents=True)
    for name, text in PROGRAMS.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "activate").write_text(f'PATH="{folder}:$PATH"\n')
    (tmp_path / "key").write_text("sk-planted\n")

    def start(**environment):
        slurm = {"SLURM_JOB_NODELIST": "n[1-3]", "SLURM_CPUS_PER_TASK": "4", "USER": "somebody"}
        own = {
            "VENV": str(tmp_path / "venv"),
            "LOG": str(tmp_path / "log"),
            "KEY_FILE": str(tmp_path / "key"),
        }
        return subprocess.Popen(
            ["bash", SCRIPT, "/shared/study"], env={**os.environ, **slurm, **own, **environment}
        )

    start.log = tmp_path / "log"
    return start


def test_a_cluster_is_started_and_the_study_runs_on_it(job):
    assert job(CODE="5").wait(30) == 5
    said = job.log.read_text().splitlines()
    assert "ray start --block --head --port=6379 --num-cpus=4 --disable-usage-stats" in said
    started = [line for line in said if line.startswith("srun")]
    assert ["--nodelist=n1" in line for line in started].count(True) == 1
    assert sum("ray start --block --address=n1:6379" in line for line in started) == 2
    assert "darkcurrent run /shared/study --executor ray --address n1:6379" in said
    assert said[-1] == "ray stop"
    assert "sk-planted" not in job.log.read_text()


def test_before_the_time_is_over_the_run_is_told_to_end_and_waited_for(job):
    process = job(TICKS="400")
    while not (job.log.exists() and "darkcurrent run" in job.log.read_text()):
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert "told to end" in job.log.read_text()
