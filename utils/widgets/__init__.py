"""The panels: ipywidgets with one picture and one sentence each, every control an attribute.

One file is one panel: `widgets.WidthExplorer` is the class of that name in `width_explorer.py`. Files whose names
end in `panel` hold what panels share.
"""

from importlib import import_module
from pathlib import Path

HERE = Path(__file__).parent


def panels_in(folder: Path = HERE) -> dict[str, Path]:
    """The panels of a folder, by their file names alone: name of the class -> file."""
    files = (path for path in sorted(folder.glob("[!_]*.py")) if not path.stem.endswith("panel"))
    return {"".join(word.capitalize() for word in path.stem.split("_")): path for path in files}


__all__ = sorted(panels_in())


def __getattr__(name):
    # a panel is imported when it is asked for: its model and its picture take a second to load
    path = panels_in().get(name)
    if path is None:
        raise AttributeError(f"there is no panel {name}; the panels are {', '.join(__all__)}")
    module = import_module(f"{__name__}.{path.stem}")
    if not hasattr(module, name):
        raise AttributeError(f"utils/widgets/{path.name} has no class {name}")
    return getattr(module, name)


def __dir__():
    return __all__
