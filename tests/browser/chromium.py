"""The machine's Chromium or Chrome, and how it is started."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find():
    """Where it is; without one the test is skipped, in CI it fails."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        text = "The browser tests need Chromium or Chrome: install one, on Debian with `apt install chromium`."
        pytest.fail(text) if os.environ.get("CI") else pytest.skip(text)
    return path
