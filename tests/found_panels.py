"""The course's panels, as the tests find them."""

from utils import widgets
from utils.widgets.panel import Panel


def panels(base=Panel):
    """Every panel that stands on a base class; a new file in utils/widgets/ is among them."""
    return [kind for name in dir(widgets) if issubclass(kind := getattr(widgets, name), base)]
