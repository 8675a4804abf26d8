"""Two runs of the lessons show the same, pictures included."""

import json
import os
import subprocess
import sys

from notebook_files import ROOT

DRAW = """
import hashlib, json, sys
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from notebook_files import SOLUTIONS, cells, name, tags
from utils.notebooks.rules import LONGER

# a lesson that trains takes half a minute, and its losses are pinned by tests of their own; what lesson 09's real model
# shows is compared by nbval with what another run has stored
still = [path for path in SOLUTIONS if name(path)[-2:] not in LONGER]
times = {"solutions 06 speed-picture"}  # measured times differ from run to run, what is said of them does not
shell, shown, pictures = InteractiveShell.instance(), {}, 0
for path in still:
    shell.reset()
    for cell in cells(path, "code"):
        with capture_output() as captured:
            done = shell.run_cell(cell.source)
        assert done.success != ("raises-exception" in tags(cell)), (name(path), cell.id, done.error_in_exec)
        bundles = [out.data for out in captured.outputs] + [shell.display_formatter.format(done.result)[0]]
        mimes = ("text/plain",) if f"{name(path)} {cell.id}" in times else ("text/plain", "text/html")
        data = [[bundle.get(mime) for mime in mimes] for bundle in bundles]
        pictures += "data:image/" in str(data)
        shown[f"{name(path)} {cell.id}"] = hashlib.sha256(f"{captured.stdout}{data}".encode()).hexdigest()
print(json.dumps([pictures, shown]))
"""


def test_two_runs_show_the_same_down_to_the_pixel(tmp_path):
    # each keeps to one thread, and its history out of the user's home
    shared = os.environ | {"PYTHONPATH": str(ROOT / "tests"), "OMP_NUM_THREADS": "1", "IPYTHONDIR": str(tmp_path)}
    command = [sys.executable, "-c", DRAW]
    runs = [
        subprocess.Popen(
            command, env=shared | {"PYTHONHASHSEED": seed}, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8"
        )
        for seed in "12"
    ]
    first, second = (json.loads(run.communicate(timeout=240)[0].splitlines()[-1]) for run in runs)
    assert first == second
    assert first[0] >= 2, "pictures were drawn"
