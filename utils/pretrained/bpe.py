"""The tokenizer of SmolLM2, from the token list of its GGUF file."""

import tiktoken

from utils import validate
from utils.text import BytePairTokenizer

# GPT-2's cuts, but each digit stands alone, and blanks before a digit are one piece as they are before the end
SPLIT = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?![^\s\p{N}])|\s+"""
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"  # published with the model
NORMAL = 1  # the type of a token that text can give; others have to be asked for
# GPT-2's letters for bytes: a byte that prints stands for itself, the others follow from U+0100 on
PRINTED = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
BYTES = {chr(byte): byte for byte in PRINTED}
BYTES |= {chr(0x100 + i): byte for i, byte in enumerate(sorted(set(range(0x100)) - set(PRINTED)))}


class SmolLMTokenizer(BytePairTokenizer):
    """SmolLM2's byte-level BPE tokenizer (Ben Allal et al. 2025), with what turns a question into a chat.

    metadata: that of the GGUF file. end_of_text: the id of "<|endoftext|>", between two documents. eos: the id of
    "<|im_end|>", which ends an answer.
    """

    def __init__(self, metadata: dict):
        tokens, types = (metadata[f"tokenizer.ggml.{name}"] for name in ("tokens", "token_type"))
        ids = {token: i for i, token in enumerate(tokens)}
        # each merge has made one token, in order: what tiktoken merges first has the smaller id
        ranks = {bytes(map(BYTES.get, token)): i for token, i in ids.items() if types[i] == NORMAL}
        special = {token: i for token, i in ids.items() if types[i] != NORMAL}
        super().__init__(tiktoken.Encoding("smollm2", pat_str=SPLIT, mergeable_ranks=ranks, special_tokens=special))
        self._unknown = {byte for byte in range(0x100) if bytes([byte]) not in ranks}
        self.end_of_text, self.eos = ids["<|endoftext|>"], ids["<|im_end|>"]

    def encode(self, text, special=False) -> list[int]:
        """The text's token ids: "The cat sat" -> [504, 2644, 2643]; decode gives the text back.

        special: whether "<|endoftext|>" and the like are one token each, and no plain text.
        Raises TypeError unless `text` is a str, ValueError for a character that the vocabulary cannot write: six
        control characters, and those from U+40000 to U+BFFFF.
        """
        validate.instance("text", text, str)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # halves of characters, as tiktoken
        if self._unknown & set(text.encode()):
            self._refuse(text)
        return self._bpe.encode(text, allowed_special="all") if special else super().encode(text)

    def _refuse(self, text):
        where = next(i for i, letter in enumerate(text) if self._unknown & set(letter.encode()))
        raise ValueError(
            f"text has {text[where]!a} (U+{ord(text[where]):04X}) at {where}, for which this vocabulary has no "
            "token; leave it out."
        )

    def pieces(self, ids) -> list[str]:
        """Each token as readable text, for pictures: "The cat" -> ["The", " cat"]. ids: as in decode, or a text."""
        return super().pieces(self.encode(ids) if isinstance(ids, str) else ids)

    def chat(self, question) -> list[int]:
        """The ids of a chat that begins with `question`; what the model adds, up to `eos`, is its answer.

        It is the published template, with its words to the model. What looks like a special token in the question is
        plain text. Raises as encode does.
        """
        start, newline = "<|im_start|>", self.encode("\n")
        before = self.encode(f"{start}system\n{SYSTEM}<|im_end|>\n{start}", special=True)
        after = self.encode(f"{start}assistant\n", special=True)
        return [*before, *self.encode(f"user\n{question}"), self.eos, *newline, *after]
