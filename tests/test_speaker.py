"""A model with its tokenizer, and the panels on another model than the course's own."""

import pytest
import torch

from utils.inspection import attention_weights, lens
from utils.llama import LlamaConfig
from utils.pretrained import load_toy_gpt
from utils.sampling import generate
from utils.speaker import Speaker
from utils.text import gpt2_tokenizer
from utils.toy_language import ToyLanguage
from utils.widgets import AttentionExplorer, GenerationStepper, Lens, TemperatureExplorer

TEXT = "The cat sat on the mat.\nThe cat"


@pytest.fixture(scope="module")
def llama():
    """A deep, narrow Llama with GPT-2's vocabulary, random and loud."""
    torch.manual_seed(0)
    model = LlamaConfig(50_257, 128, 8, 12, 4, 2, 16).build().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.0, 0.5)
    return model


def test_a_speaker_computes_what_the_library_does(llama):
    for model, tokenizer, text in (
        (llama, gpt2_tokenizer(), TEXT),
        (load_toy_gpt(), ToyLanguage(), "today Anna took the"),
    ):
        speaker = Speaker(model, tokenizer)
        ids = speaker.ids(text)
        batch = torch.tensor([ids])
        with torch.no_grad():
            assert torch.equal(speaker.scores(ids), model(batch)[0, -1])
        assert torch.equal(speaker.weights(ids), attention_weights(model, batch)[:, 0])
        torch.testing.assert_close(speaker.lens(ids, 3), lens(model, batch)[:, 0, 3], rtol=0, atol=1e-4)
        assert speaker.text(ids) == text
        assert "".join(speaker.parts(ids)[1:]).strip() == text


def test_every_panel_that_speaks_takes_a_llama(llama):
    stepper = GenerationStepper(llama, gpt2_tokenizer(), text=TEXT)
    for _ in range(4):
        stepper.step.click()
    assert stepper.error == ""
    ids = torch.tensor([Speaker(llama, gpt2_tokenizer()).ids(TEXT)])
    made = generate(llama, ids, 4, generator=torch.Generator().manual_seed(0))[0, ids.shape[1] :]
    assert gpt2_tokenizer().pieces(made)[-1] in stepper.sentence
    with torch.no_grad():
        best = gpt2_tokenizer().pieces([llama(ids)[0, -1].argmax().item()])[0]
    assert best in TemperatureExplorer(llama, gpt2_tokenizer(), text=TEXT).sentence
    explorer = AttentionExplorer(llama, gpt2_tokenizer(), TEXT, layer=11, head=3, word=5)
    assert explorer.sentence.startswith("Layer 11, head 3: “ the” (5) looks most at ")
    depth = Lens(llama, gpt2_tokenizer(), TEXT, word=2)
    assert f"{best_after(llama, ids[:, :3])}" in depth.sentence
    assert "rank is" in depth.sentence


def best_after(model, ids):
    with torch.no_grad():
        return gpt2_tokenizer().pieces([model(ids)[0, -1].argmax().item()])[0]


def test_the_lens_tells_from_which_block_on_the_answer_leads(llama):
    panel = Lens(llama, gpt2_tokenizer(), TEXT, word=2)
    ids = torch.tensor([Speaker(llama, gpt2_tokenizer()).ids(TEXT)])
    rows = lens(llama, ids)[:, 0, 2]
    leaders = rows.argmax(-1)
    since = len(rows) - 1
    while since and leaders[since - 1] == leaders[-1]:
        since -= 1
    rank = 1 + int((rows[6] > rows[6, leaders[-1]]).sum())
    assert panel.sentence.endswith(
        f"its rank is {rank:,} after block 5, and 1 from {f'block {since - 1}' if since else 'the start'} on"
    )
    line = panel._figure.axes[1].lines[0]
    assert line.get_ydata()[6] == rank


def test_a_model_without_its_tokenizer_is_refused(llama):
    for panel in (TemperatureExplorer, Lens):
        with pytest.raises(TypeError, match="a model without a tokenizer"):
            panel(llama)
    with pytest.raises(TypeError, match="model="):
        Speaker(3, gpt2_tokenizer())


def test_an_answer_that_leads_from_the_start_is_told_so(llama):
    """In a model whose blocks do nothing, the first guess is the last one."""
    still = llama.config.build().eval()
    with torch.no_grad():
        for block in still.h:
            block.attn.o_proj.weight.zero_()
            block.mlp.down_proj.weight.zero_()
    panel = Lens(still, gpt2_tokenizer(), TEXT, word=2)
    assert panel.sentence.endswith("its rank is 1 after block 5, and 1 from the start on")


def test_two_that_do_not_belong_together_are_told_so(llama):
    with pytest.raises(ValueError, match="200 tokens and the model 50,257"):
        TemperatureExplorer(llama, ToyLanguage())
    with pytest.raises(TypeError, match="tokenizer=3"):
        Lens(llama, 3)
