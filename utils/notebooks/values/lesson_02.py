"""The numbers in lesson 02."""

import math
from statistics import mean

import torch

from utils.inspection import attention_weights, lens
from utils.model import GPT
from utils.notebooks.values.sizes import LARGEST, D, V, loud_loss
from utils.notebooks.values.sources import given, published
from utils.pretrained import COURSE_MODEL, load_toy_gpt
from utils.toy_language import ToyLanguage
from utils.training import token_losses
from utils.widgets import AttentionExplorer, Lens


def plain_loss() -> int:
    """The mean first loss of the course model with all of its parts as PyTorch draws them."""
    rows = torch.randint(COURSE_MODEL.vocab_size, (64, 33), generator=torch.Generator().manual_seed(5))
    losses = []
    for seed in range(8):
        torch.manual_seed(seed)
        model = GPT(COURSE_MODEL)
        for name, part in model.named_modules():
            if name != "lm_head" and hasattr(part, "reset_parameters"):  # its weight is the token table's
                part.reset_parameters()
        losses.append(token_losses(model, rows).mean().item())
    return round(mean(losses))


def shown_words(panel) -> tuple[list[int], list[str]]:
    """The ids and words of the story that a panel of lesson 02 opens with, the start mark first."""
    language = ToyLanguage()
    ids = [language.start, *language.encode(panel.prompt.value)][: COURSE_MODEL.n_ctx]
    return ids, [language.vocab[token] for token in ids]


def copied_from() -> tuple[int, float]:
    """Where *and* stands before the second *Jack*, and what head 0 of layer 0 gives the first one from there."""
    ids, words = shown_words(AttentionExplorer())
    first, second = (place for place, word in enumerate(words) if word == "Jack")
    return second - 1, attention_weights(load_toy_gpt(), torch.tensor([ids]))[0, 0, 0, second - 1, first].item()


def free_choice() -> float:
    """How probable the model finds its favourite at the first *our* of the lens."""
    ids, words = shown_words(Lens())
    return lens(load_toy_gpt(), torch.tensor([ids]))[-1, 0, words.index("our")].softmax(-1).max().item()


VALUES = {
    "parameters of attention": lambda: sum(p.numel() for p in GPT(COURSE_MODEL).h[0].attn.parameters()),
    "first losses": lambda: (plain_loss(), loud_loss(), math.log(V) + D * 0.02**2 / 2),
    "words that BERT hides": published("Devlin et al. 2019, section 3.1", 0.15),
    "blocks of GPT-3, a head of 768 / 8": lambda: (LARGEST["n_layer"], D // 8),
    "a head that copies": copied_from,
    "a bound on its attention, which test_inspection.py measures": given(0.9),
    "a free choice in the lens": free_choice,
}
