"""GPT-2 by name: from a stand-in for the hub on this machine, from its cache, and what is said when neither has it."""

import socket
import sys
import threading
from hashlib import sha1
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import huggingface_hub as hub
import pytest
import torch
from huggingface_hub import constants

from utils.model import GPT, GPTConfig
from utils.pretrained import GPT2_NAMES, load_gpt2, save_gpt2


class Hub(BaseHTTPRequestHandler):
    """Answers as the hub does for the files in `files`, by name."""

    files: ClassVar = {}

    def do_GET(self):
        content = self.files.get(self.path.removeprefix("/openai-community/gpt2/resolve/main/"))
        self.send_response(404 if content is None else 200)
        content = content or b""
        headers = {"ETag": f'"{sha1(content).hexdigest()}"', "X-Repo-Commit": "c" * 40, "Content-Length": len(content)}
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, and no server that could fill it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = free.getsockname()[1]
    folder = tmp_path / "cache"
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    listen(monkeypatch, closed)
    return folder


def listen(patch, port):
    """Make this machine's port the hub's address, in both places that keep it."""
    patch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{port}")
    template = f"http://127.0.0.1:{port}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model whose files the stand-in would serve."""
    model = GPT(GPTConfig(31, 8, 8, 2, 2)).eval()
    save_gpt2(model, tmp_path / "source")
    monkeypatch.setattr(Hub, "files", {path.name: path.read_bytes() for path in (tmp_path / "source").iterdir()})
    return model


@pytest.fixture
def served(cache, model, monkeypatch):
    """The stand-in, running, on a port of its own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    listen(monkeypatch, server.server_port)
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def same(one, other):
    a, b = one.state_dict(), other.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def held(folder):
    """What a cache holds, but for the hub's own locks and its mark."""
    return [path for path in folder.rglob("*") if ".locks" not in path.parts and path.name != "CACHEDIR.TAG"]


@pytest.mark.parametrize("name", ["gpt2-tiny", "gpt-2", "GPT2", "openai-gpt", "distilgpt2"])
def test_an_unknown_name_lists_the_valid_ones(cache, tmp_path, monkeypatch, refused, name):
    monkeypatch.chdir(tmp_path)
    with refused(ValueError, repr(name), *map(repr, GPT2_NAMES)):
        load_gpt2(name)
    assert not cache.exists()


def test_a_path_that_is_not_there_is_told(tmp_path, refused):
    for path in (tmp_path / "gpt2", str(tmp_path / "gpt2"), "./gpt2"):
        with refused(FileNotFoundError, str(path), *map(repr, GPT2_NAMES)):
            load_gpt2(path)
    for path in ("C:\\models\new", "models\nano"):  # typed without r
        typed = path.replace("\n", "\\n")
        with refused(FileNotFoundError, f"no folder {typed}", f'write r"{typed}"'):
            load_gpt2(path)
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with refused(ValueError, "config.json is a file", "folder"):
        load_gpt2(tmp_path / "config.json")
    with refused(TypeError, "path_or_name", "NoneType"):
        load_gpt2(None)


@pytest.mark.parametrize("name", GPT2_NAMES)
def test_what_cannot_be_fetched_is_one_sentence_and_no_file(cache, monkeypatch, refused, name):
    with refused(FileNotFoundError, repr(name), "cannot be fetched", "config.json"):
        load_gpt2(name)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with refused(FileNotFoundError, repr(name), "huggingface_hub", "not installed"):
        load_gpt2(name)
    assert not cache.exists()


def test_offline_mode_is_respected(served, cache, monkeypatch, refused):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with refused(FileNotFoundError, "'gpt2'", "cannot be fetched", "Offline"):
        load_gpt2("gpt2")
    assert not cache.exists()


def test_a_name_is_fetched_once(served, cache, model, monkeypatch):
    assert same(load_gpt2("gpt2"), model)
    monkeypatch.setattr(Hub, "files", {})
    assert same(load_gpt2("gpt2"), model)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert same(load_gpt2("gpt2"), model)


def test_a_folder_of_that_name_comes_first(cache, model, tmp_path, monkeypatch):
    (tmp_path / "source").rename(tmp_path / "gpt2")
    monkeypatch.chdir(tmp_path)
    assert same(load_gpt2("gpt2"), model)


def test_what_came_of_a_broken_download_is_removed(served, cache, refused):
    held_back = Hub.files.pop("model.safetensors")
    with refused(FileNotFoundError, "'gpt2'", "cannot be fetched"):
        load_gpt2("gpt2")
    assert held(cache) == []
    Hub.files["model.safetensors"] = held_back
    load_gpt2("gpt2")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError("No space left on device")], ids=repr)
def test_an_interrupt_leaves_what_was_there_before(served, cache, model, monkeypatch, error):
    hub.hf_hub_download("openai-community/gpt2", "config.json")
    before = held(cache)
    blobs = next(path for path in before if path.name == "blobs")

    def broken(repo, file):
        (blobs / "a.incomplete").write_bytes(b"half")
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(hub, "hf_hub_download", broken)
        with pytest.raises(KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else FileNotFoundError):
            load_gpt2("gpt2")
    assert held(cache) == before
    assert same(load_gpt2("gpt2"), model)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_truncated_file_in_the_cache_is_told_and_can_be_mended(served, cache, model, refused, name):
    load_gpt2("gpt2")
    path = next(cache.rglob(name))
    path.write_bytes(path.read_bytes()[:-20])
    real = path.resolve()
    with refused(ValueError, str(path), "cut short", f"delete {real} and get it again"):
        load_gpt2("gpt2")
    real.unlink()
    assert same(load_gpt2("gpt2"), model)
