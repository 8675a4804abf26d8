"""The course's panels, as the tests find them, and what is asked of every picture."""

from matplotlib.backends.backend_agg import FigureCanvasAgg

from utils import widgets
from utils.widgets.panel import Panel


def panels(base=Panel):
    """Every panel that stands on a base class; a new file in utils/widgets/ is among them."""
    return [kind for name in dir(widgets) if issubclass(kind := getattr(widgets, name), base)]


def fits(fig):
    """Whether nothing of a figure is cut off at its edge."""
    needed = fig.get_tightbbox(FigureCanvasAgg(fig).get_renderer())  # inches
    width, height = fig.get_size_inches()
    return 0 <= needed.x0 < needed.x1 <= width and 0 <= needed.y0 < needed.y1 <= height
