"""The weights in a folder of Hugging Face layout: one safetensors file, or several and an index of them."""

import json
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError, safe_open

from utils.files import not_there, stand_in
from utils.pretrained.hf_names import to_course_name

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
FLOATS = ("F64", "F32", "F16", "BF16")


def stored_shapes(folder) -> dict[str, tuple[int, ...]]:
    """The name and shape of each tensor that a folder in Hugging Face layout holds, as they are stored.

    folder: with model.safetensors, or model.safetensors.index.json and its parts; only their headers are read.
    Raises FileNotFoundError for a missing file, ValueError for one that is damaged or cut short, for a name that two
    files hold, and for numbers that are not floats of 16 bits or more.
    """
    shapes = {}
    for path in _files(Path(folder)):
        with _opened(path) as file:
            for name in file.keys():  # noqa: SIM118 (safe_open is no dict)
                entry = file.get_slice(name)
                if entry.get_dtype() not in FLOATS and to_course_name(name):  # a mask may be of any type
                    raise ValueError(f"{path} stores {name} as {entry.get_dtype()}; give one of {', '.join(FLOATS)}.")
                if name in shapes:
                    raise ValueError(f"{path} stores {name}, as another file of its folder does; remove one of them.")
                shapes[name] = tuple(entry.get_shape())
    return shapes


def stored_tensors(folder, names):
    """Yield name and tensor for each of `names`, file by file, so that only one tensor is in memory at a time."""
    for path in _files(Path(folder)):
        with _opened(path) as file:
            for name in sorted(set(file.keys()) & set(names)):
                yield name, file.get_tensor(name)


def _files(folder):
    """The files that hold the weights; the single one counts, should there be an index as well."""
    if (folder / SINGLE).exists():
        return [folder / SINGLE]
    index = folder / INDEX
    if not index.exists():
        pickles = sorted(path.name for path in folder.glob("*.bin"))
        unread = "is a pickle, which may run code when it is opened, so it is not read"
        other = f"; {pickles[0]} {unread}" if pickles else ""
        raise FileNotFoundError(f"There is no {SINGLE} and no {INDEX} in {folder}; give a folder that has one{other}.")
    try:
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        outside = [name for name in names if Path(name).name != name]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise damaged(index, "cut short or no index of weights") from None
    if outside:
        raise ValueError(f"{index} names {outside[0]!r}, which is not in its folder; get it again.")
    return [folder / name for name in names]


@contextmanager
def _opened(path):
    try:
        with safe_open(path, "pt") as file:
            yield file
    except FileNotFoundError:
        raise not_there(path, otherwise="get it again") from None
    except SafetensorError as error:
        raise damaged(path, f"cut short or no safetensors file ({error})") from None


def damaged(path, how) -> ValueError:
    """The error for a file that cannot be read. The hub's cache holds links: what they lead to has to go."""
    file = path.resolve() if path.is_symlink() else "it"
    return stand_in(path) or ValueError(f"{path} is damaged, {how}; delete {file} and get it again.")
