"""How the models and measurements in utils/data/ were made.

`python -m utils.experiments.recipes` makes them again, in minutes.
"""

import json

import torch

from utils.checkpoint import save_model
from utils.experiments import llama_steps, scaling_law
from utils.experiments.stories import toy_stories
from utils.llama import Llama
from utils.model import GPT, GPTConfig
from utils.pretrained import COURSE_MODEL, DATA, TINY_LLAMA
from utils.text import names
from utils.training import train

TOY_STAGES = {50: "before_copying", 250: "after_copying", 1000: "trained"}  # steps of one run
LOSSES = DATA / "valid_losses.json"


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


def toy_llama(keep=None, progress=True):
    """Train a Llama of the course model's size on the toy language -> its History. keep(model): called at the end."""
    rows, valid_rows, _ = toy_stories()
    torch.manual_seed(0)
    model = Llama(TINY_LLAMA)
    history = train(model, rows, steps=1000, lr=5e-3, valid_rows=valid_rows, progress=progress)
    if keep:
        keep(model)
    return history


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


def steps_to_llama() -> dict:
    """What each change on the way to Llama does to the loss -> what utils/data/llama_steps.json holds."""
    runs, seeds = llama_steps.RUNS, llama_steps.SEEDS
    return {
        step: {steps: [round(llama_steps.measure(step, steps, seed), 4) for seed in seeds] for steps in runs}
        for step in llama_steps.STEPS
    }


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
    """Make every model in utils/data/, and write down the held-out losses that they end with and what was measured."""
    toy = toy_gpt(keep=lambda model, stage: save_model(model, DATA / f"toy_gpt_{stage}.safetensors"))
    letters = names_gpt(keep=lambda model: save_model(model, DATA / "names_gpt.safetensors"))
    llama = toy_llama(keep=lambda model: save_model(model, DATA / "toy_llama.safetensors"))
    histories = {"toy_gpt": toy, "names_gpt": letters, "toy_llama": llama}
    losses = {name: round(history.valid_loss[-1], 4) for name, history in histories.items()}
    LOSSES.write_text(json.dumps(losses, indent=1) + "\n", encoding="utf-8")
    print(losses)
    for found, file in ((scaling(), scaling_law.MEASUREMENTS), (steps_to_llama(), llama_steps.MEASUREMENTS)):
        (DATA / file.name).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
