"""What every text may state."""

from utils.counting import tying_saving
from utils.notebooks.values.sizes import SMALL, TABLE, D, V, total
from utils.notebooks.values.sources import given
from utils.pretrained import COURSE_MODEL

VALUES = {
    "nothing and one": given(0, 1),
    "GPT-2 small": lambda: (V, SMALL.n_ctx, D, TABLE, total(SMALL)),
    "the course model's parameters and its table": lambda: (total(COURSE_MODEL), tying_saving(200, 64)),
}
