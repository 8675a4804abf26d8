"""Lesson 08's panel: what a budget of compute buys, and what it costs."""

import ipywidgets

from utils.plots.amounts import in_words
from utils.plots.scaling import budget_map
from utils.scaling import KNOWN_MODELS, compute_optimal, cost, gpu_hours
from utils.widgets.panel import LONG, WIDE, Panel


class BudgetPlanner(Panel):
    """Choose a budget: see the size and the tokens that use it best, the time and the price.

    Controls, all on log scales: budget (FLOPs), tokens_per_param, speed (TFLOP/s that one GPU sustains) and price
    (dollars for an hour of one GPU). It begins with GPT-3's budget and the lesson's assumptions.
    """

    def __init__(self):
        self.budget = self._slider(3.14e23, 18, 26, "budget, FLOPs", ".2e")
        self.tokens_per_param = self._slider(20, 0, 3.3, "tokens D per N")
        self.speed = self._slider(28, 0, 3, "speed, TFLOP/s")
        self.price = self._slider(1.5, -1, 2, "dollars an hour")
        super().__init__([self.budget, self.tokens_per_param, self.speed, self.price])

    def _slider(self, value, low, high, text, number=".3r"):
        """From 10^low to 10^high. Drawn on release: while it moves, the browser would round a value set in Python."""
        return ipywidgets.FloatLogSlider(
            value,
            min=low,
            max=high,
            step=0.05,
            description=text,
            readout_format=number,
            continuous_update=False,
            style=WIDE,
            layout=LONG,
        )

    def picture(self):
        """-> (Figure, sentence) for the controls' present values."""
        flops = self.budget.value
        n_params, n_tokens = compute_optimal(flops, self.tokens_per_param.value)
        hours = gpu_hours(flops, 1e12 * self.speed.value)
        amounts = n_params, n_tokens, hours / 24, cost(hours, self.price.value)
        return budget_map(flops, n_params, n_tokens, KNOWN_MODELS), self._sentence(flops, *map(in_words, amounts))

    def _sentence(self, flops, size, tokens, days, price):
        budget = f"{flops:.2e}".replace("e+", "e")
        return f"{budget} FLOPs: {size} parameters, {tokens} tokens, {days} GPU-days, {price} dollars"
