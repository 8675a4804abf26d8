"""A model together with its tokenizer: what the panels ask about a text, of whatever model of the course."""

import re
from functools import lru_cache

import torch

from utils import validate
from utils.inspection import attention_weights, residual_stream
from utils.model import GPT

START = "<start>"  # what pictures write for the start mark, whatever the tokenizer calls it
# texts whose results are kept, so that a slider that does not change the text is fast: many for the stepper, which asks
# for a text's beginnings, few where a text's results take megabytes
REMEMBERED = {"scores": 256, "weights": 8, "stream": 8}
NEEDED = ("encode", "decode", "start")
LONGEST_WORD = 16  # of what a student types, in a message; no word of the toy language is as long


class Speaker:
    """A model and a tokenizer that fit together; what was computed for a text is kept.

    model: a GPT or a Llama. tokenizer: ToyLanguage, GPT2Tokenizer or another one with encode, decode and pieces, and
    with `start`, the id that a text begins with. Raises TypeError for what is no model of the course or no tokenizer,
    ValueError for two that do not belong together.
    """

    def __init__(self, model, tokenizer):
        validate.instance("model", model, GPT)
        if not all(hasattr(tokenizer, name) for name in NEEDED):
            raise validate.wrong_type("tokenizer", tokenizer, "give one such as ToyLanguage() or gpt2_tokenizer()")
        self.model, self.tokenizer, self.n_ctx = model, tokenizer, model.config.n_ctx
        # a language of whole words has a list of them; the pieces of the others bring their own spaces
        self._words = getattr(tokenizer, "vocab", None)
        self.names = self._words or tokenizer.pieces(list(range(tokenizer.vocab_size)))
        self.labels = ["“.”" if name == "." else name for name in self.names]  # a bare full stop would not be seen
        if len(self.names) != model.config.vocab_size:
            raise ValueError(
                f"the tokenizer has {len(self.names):,} tokens and the model {model.config.vocab_size:,}; "
                "give two that belong together."
            )
        for compute, texts in REMEMBERED.items():
            setattr(self, compute, lru_cache(texts)(getattr(self, compute)))

    def ids(self, text) -> tuple[int, ...]:
        """A text as ids, the start mark first. Raises ValueError for what the tokenizer does not know."""
        if self._words:
            text = re.sub(rf"([^\s.]{{{LONGEST_WORD - 1}}})[^\s.]{{2,}}", r"\1…", text)
        return (self.tokenizer.start, *self.tokenizer.encode(text))

    def text(self, ids) -> str:
        """The text of ids, without the start mark."""
        return self.tokenizer.decode(list(ids[1:]))

    def words(self, ids) -> list[str]:
        """The name of each id of a text; it begins with the start mark."""
        return [START, *(self.names[token] for token in ids[1:])]

    def parts(self, ids) -> list[str]:
        """One string for each id; joined they are the text, behind the start mark's name."""
        first, *words = self.words(ids)
        return [first, *(f" {word}" if self._words and word != "." else word for word in words)]

    @torch.no_grad()
    def scores(self, ids):
        """Scores (V,) for the token after ids, a tuple, of which the model sees the last n_ctx, as in generate."""
        return self.model(torch.tensor([ids[-self.n_ctx :]]))[0, -1]  # (V,)

    def weights(self, ids):
        """Attention weights (L, H, T, T) of ids, a tuple."""
        return attention_weights(self.model, torch.tensor([ids]))[:, 0]  # (L, H, T, T)

    def stream(self, ids):
        """The residual stream (L + 1, T, d) of ids, a tuple."""
        return residual_stream(self.model, torch.tensor([ids]))[:, 0]  # (L + 1, T, d)

    @torch.no_grad()
    def lens(self, ids, position):
        """What the stream at one position says after each layer: logits (L + 1, V)."""
        # of one position: inspection.lens makes them of all, T times as many
        return self.model.lm_head(self.model.ln_f(self.stream(ids)[:, position]))  # (L + 1, V)
