"""How the models and measurements in utils/data/ were made.

`python -m utils.experiments.recipes` makes them again, in minutes.
"""

import json

import torch

from utils.checkpoint import save_model
from utils.experiments import scaling_law
from utils.model import GPT, GPTConfig
from utils.pretrained import COURSE_MODEL, DATA
from utils.text import names
from utils.toy_language import ToyLanguage
from utils.training import train

TOY_STAGES = {50: "before_copying", 250: "after_copying", 1000: "trained"}  # steps of one run
LOSSES = DATA / "valid_losses.json"


def toy_stories():
    """-> training rows (20,000, 33), and held-out rows (1,000, 33) with their log-probabilities."""
    language = ToyLanguage()
    return language.stories(20_000, seed=0)[0], *language.stories(1_000, seed=1)


def toy_gpt(keep=None, progress=True):
    """Train the course model on the toy language -> its History. keep(model, stage): called at each of TOY_STAGES."""
    rows, valid_rows, _ = toy_stories()
    torch.manual_seed(0)
    model = GPT(COURSE_MODEL)

    def watch(history):
        stage = TOY_STAGES.get(len(history.train_loss))
        if stage and keep:
            keep(model, stage)

    return train(model, rows, steps=max(TOY_STAGES), valid_rows=valid_rows, watch=watch, progress=progress)


def names_gpt(keep=None, progress=True):
    """Train a GPT of the course model's width on first names -> its History. keep(model): called at the end."""
    data = names()
    torch.manual_seed(0)
    model = GPT(GPTConfig(vocab_size=data.vocab_size, n_ctx=data.longest + 1, n_embd=64, n_layer=2, n_head=4))
    rows, valid_rows = data.rows(data.train), data.rows(data.valid)
    history = train(model, rows, steps=1000, batch_size=64, lr=2e-3, valid_rows=valid_rows, progress=progress)
    if keep:
        keep(model)
    return history


def scaling(progress=True) -> dict:
    """Measure the scaling law of lesson 08: train every width with every seed -> what utils/data/scaling.json holds."""
    recipe = {"steps": scaling_law.STEPS, "batch_size": scaling_law.BATCH, "seeds": list(scaling_law.SEEDS)}
    points = []
    for width in scaling_law.WIDTHS:
        models = [scaling_law.trained(width, seed, progress=progress) for seed in scaling_law.SEEDS]
        gaps = [round(scaling_law.gap(model), 5) for model in models]
        held = [int(scaling_law.facts_held(model).sum()) for model in models]
        points.append({"width": width, "lr": round(scaling_law.learning_rate(width), 5), "gaps": gaps, "held": held})
    return {"recipe": recipe, "measurements": points}


def main():
    """Make every model in utils/data/, write down the held-out loss that each recipe ends with, and the scaling law."""
    toy = toy_gpt(keep=lambda model, stage: save_model(model, DATA / f"toy_gpt_{stage}.safetensors"))
    letters = names_gpt(keep=lambda model: save_model(model, DATA / "names_gpt.safetensors"))
    losses = {"toy_gpt": round(toy.valid_loss[-1], 4), "names_gpt": round(letters.valid_loss[-1], 4)}
    LOSSES.write_text(json.dumps(losses, indent=1) + "\n", encoding="utf-8")
    print(losses)
    found = json.dumps(scaling(), indent=1)
    (DATA / scaling_law.MEASUREMENTS.name).write_text(found + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
