"""Which browser the tests use, and what they say without one; no browser is needed here."""

import shutil

import chromium
import pytest


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_without_a_browser_the_tests_are_skipped_and_in_ci_they_fail(ci, outcome, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="need Chromium or Chrome: install one, on Debian with `apt install chromium`"):
        chromium.find()


def test_chrome_will_do_where_there_is_no_chromium(monkeypatch):
    monkeypatch.setattr(shutil, "which", {"google-chrome": "/opt/chrome"}.get)
    assert chromium.find() == "/opt/chrome"
