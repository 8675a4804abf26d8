"""How long a lesson may take. A reader waits for the first cell, for the whole, and for any cell without a sign."""

import re

from nbformat import NotebookNode

ROOM = 2  # times the budget: machines are noisy
FIRST_CELL, CELL, NOTEBOOK = 5, 10, 20
LONGER = {"05": 45, "08": 45}  # lessons that train
MOVES = re.compile(r"tqdm|Monitor|it/s\]")  # a progress bar, in the source or in what it showed


def late(name: str, nb: NotebookNode, seconds: dict[str, float]) -> list[str]:
    """Say which cells of a notebook that was run, or all of it, took more than twice their budget.

    `name` begins with the lesson's number, `seconds` maps the ids of the code cells to what they took.
    """
    cells = [cell for cell in nb.cells if cell.id in seconds]
    budgets = {cell.id: CELL for cell in cells if not MOVES.search(f"{cell.source}{cell.outputs}")}
    if cells:
        budgets[cells[0].id] = FIRST_CELL
    found = [
        f"cell {cell}: it took {seconds[cell]:.1f} s, and {budget} s is its budget"
        for cell, budget in budgets.items()
        if seconds[cell] > ROOM * budget
    ]
    total, budget = sum(seconds.values()), LONGER.get(name[:2], NOTEBOOK)
    if total > ROOM * budget:
        found.append(f"the notebook took {total:.1f} s, and {budget} s is its budget")
    return found
