"""A real JupyterLab, started as a student starts it, and a real Chromium looking at it."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from lab_page import LabPage
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "course"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def chromium_path():
    """Where the machine's Chromium or Chrome is; without one the test is skipped, in CI it fails."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        text = "The browser tests need Chromium or Chrome: install one, on Debian with `apt install chromium`."
        pytest.fail(text) if os.environ.get("CI") else pytest.skip(text)
    return path


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """The course in a fresh folder, opened by its own command; yields the folder and the server's address."""
    folder = tmp_path_factory.mktemp("my course é") / "gpt"
    for part in ("utils", "lessons"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("requirements.txt", "pyproject.toml"):
        shutil.copy(ROOT / part, folder / part)
    port = _free_port()
    options = [f"--IdentityProvider.token={TOKEN}", "--LabApp.expose_app_in_browser=True", "--allow-root"]
    command = [sys.executable, "-m", "utils", "lab", "--no-browser", f"--port={port}", *options]
    log = (folder / "lab.log").open("w")
    # a student's kernel does not run under pytest
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/api/status?token={TOKEN}", server, folder / "lab.log")
        yield folder, address
    finally:
        server.terminate()
        server.wait(20)
        log.close()


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(url, server, log, seconds=90):
    for _ in range(4 * seconds):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.25)
    pytest.fail(f"JupyterLab did not start: {log.read_text()[-2000:]}")


@pytest.fixture(scope="session")
def browser(chromium_path):
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def open_lesson(lab, browser):
    """-> a function that opens a lesson of my_work/ in a fresh browser profile and gives its LabPage."""
    folder, address = lab
    contexts = []

    def open_(name):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        contexts.append(context)
        return LabPage(context.new_page(), f"{address}/lab/tree/my_work/{name}.ipynb?token={TOKEN}&reset", folder)

    yield open_
    for context in contexts:
        context.close()
