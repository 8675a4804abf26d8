"""What several test files share."""

import re
from contextlib import contextmanager

import psutil
import pytest
import torch

from utils.model import GPT, GPTConfig

torch.set_num_threads(1)  # for models this small, a second thread on a busy machine triples the time


@pytest.fixture
def course():
    """The course model's configuration."""
    return GPTConfig(vocab_size=200, n_ctx=32, n_embd=64, n_layer=2, n_head=4)


@pytest.fixture
def loud():
    """Make a GPT whose weights are so large that a wrong activation, epsilon, mask or transpose shows."""

    @torch.no_grad()
    def make(config, seed=0, dtype=torch.float32):
        torch.manual_seed(seed)
        model = GPT(config)
        for name, parameter in model.named_parameters():
            # small tables keep the first layer norm's variance so small that epsilon counts
            parameter.normal_(std=0.05 if name in ("wte.weight", "wpe.weight") else 0.3)
            if "ln_" in name and name.endswith("weight"):
                parameter.add_(1)
        return model.to(dtype)

    return make


@pytest.fixture
def refused():
    """`with refused(ValueError, "n_head=0"):` the block raises exactly that, in one sentence with these words."""

    @contextmanager
    def expect(kind, *words):
        with pytest.raises(kind) as caught:
            yield
        message = str(caught.value)
        assert type(caught.value) is kind
        assert re.fullmatch(r"[^\n]+\.", message), f"not one line that ends with a period: {message!r}"
        assert not re.search(r"[.?!] [A-Z]", message), f"more than one sentence: {message!r}"
        assert [word for word in words if word not in message] == [], message

    return expect


@pytest.fixture
def memory_growth():
    """A function that tells by how many MB this process has grown since the test began."""
    process = psutil.Process()
    start = process.memory_info().rss
    return lambda: (process.memory_info().rss - start) / 1e6
