"""A real JupyterLab, started as a student starts it, and a real Chromium looking at it."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import chromium
import pytest
from lab_page import LabPage
from playwright.sync_api import sync_playwright

from utils.environment import ROOT

TOKEN = "course"


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
    log = (folder / "lab.log").open("w", encoding="utf-8")
    # a student's kernel does not run under pytest, and no tab is open from another course
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["JUPYTERLAB_WORKSPACES_DIR"] = str(folder / "workspaces")
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
    pytest.fail(f"JupyterLab did not start: {log.read_text(encoding='utf-8')[-2000:]}")


@pytest.fixture(scope="session")
def browser():
    path = chromium.find()
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=chromium.QUIET)
        yield running
        running.close()


@pytest.fixture(scope="module")
def open_page(lab, browser):
    """-> a function that opens a path of the server in a fresh browser profile and gives its LabPage.

    Whatever the tests did, no page may have asked another host.
    """
    folder, address = lab
    contexts, pages = [], []

    def open_(path=""):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        contexts.append(context)
        reset = "&reset" if path else ""  # closes the tabs that an earlier page left open
        pages.append(LabPage(context.new_page(), f"{address}/{path}?token={TOKEN}{reset}", folder))
        return pages[-1]

    yield open_
    for context in contexts:
        context.close()
    assert [url for page in pages for url in page.foreign] == []
