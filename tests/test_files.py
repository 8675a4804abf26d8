"""A file is written whole or not at all, where it is meant to be, and readable for whom the system says."""

import os
import stat

import pytest
import torch
from safetensors.torch import save_file

from utils.checkpoint import load_model, save_model
from utils.files import replace_file
from utils.model import GPT, GPTConfig
from utils.pretrained import config_from_hf, load_gpt2, save_gpt2
from utils.training import train

WAYS = {
    "text": "new",
    "bytes": b"new",
    "a function": lambda path: path.write_text("new", encoding="utf-8"),
}


@pytest.mark.parametrize("write", WAYS.values(), ids=WAYS)
def test_a_file_is_replaced_whole_and_nothing_else_is_left(write, tmp_path):
    target = tmp_path / "kept.txt"
    target.write_text("old", encoding="utf-8")
    replace_file(target, write)
    assert target.read_text(encoding="utf-8") == "new"
    assert os.listdir(tmp_path) == ["kept.txt"]


def test_an_error_leaves_the_old_file(tmp_path):
    target = tmp_path / "kept.txt"
    target.write_text("old", encoding="utf-8")

    def half(path):
        path.write_text("ne", encoding="utf-8")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replace_file(target, half)
    assert (os.listdir(tmp_path), target.read_text(encoding="utf-8")) == (["kept.txt"], "old")


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/file").write_text("old", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere/file")
    replace_file(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "elsewhere/file").read_text(encoding="utf-8") == "new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
def test_what_is_no_file_is_left_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for target in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(OSError, match="is no file, so nothing is written in its place"):
            replace_file(target, "new")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_others_may_read_what_the_system_lets_them_read(tmp_path):
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "weights", lambda path: save_file({"w": torch.ones(2)}, path))
        replace_file(tmp_path / "text", "new")
    finally:
        os.umask(before)
    assert {oct(path.stat().st_mode & 0o777) for path in tmp_path.iterdir()} == {"0o640"}


def test_a_tilde_is_the_home_folder_for_whoever_takes_a_path(tmp_path, monkeypatch):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path)
    model = GPT(GPTConfig(vocab_size=9, n_ctx=8, n_embd=4, n_layer=1, n_head=2))
    save_model(model, "~/model.safetensors")
    save_gpt2(model, "~/gpt2")
    rows = torch.tensor([[1, 2, 3]])
    assert len(train(model, rows, steps=1, batch_size=1, progress=False, checkpoint="~/run").train_loss) == 1
    assert load_model("~/model.safetensors").config == load_gpt2("~/gpt2").config == config_from_hf("~/gpt2")
    assert os.listdir(tmp_path) == ["home"]
    assert sorted(os.listdir("home")) == ["gpt2", "model.safetensors", "run"]
