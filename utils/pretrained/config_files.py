"""A config.json from a dict, a file, a folder or a text, whatever an editor or a web page has put between its words."""

import json
import os
import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from utils.files import at_home, not_there
from utils.pretrained.hf_files import damaged

# a string, which stays as it is, or a blank that JSON does not know: a byte order mark, a no-break space …
STRING_OR_BLANK = re.compile(r'"(?:\\.|[^"\\])*"|[^\S \t\r\n]|[\u00ad\u200b-\u200f\u2060\ufeff]', re.DOTALL)
# a path that was typed without r: a control character in it, and none that no path on Windows has behind its drive
SPOILT_PATH = re.compile(r'(?:[A-Za-z]:)?(?=.*[^\s:"{}])[^:"{}]*[\x00-\x1f\x7f-\x9f][^:"{}]*', re.DOTALL)


def read_config(dict_or_path) -> dict:
    """A config.json as a dict, from its path or the folder that holds it; a dict comes back as it is.

    A file may be in UTF-8, UTF-16 or UTF-32, with a byte order mark or without.
    Raises FileNotFoundError for a missing file, ValueError for one that is no JSON object and for a configuration's
    text in place of its path, TypeError for other things.
    """
    if isinstance(dict_or_path, Mapping):
        return dict(dict_or_path)
    if not isinstance(dict_or_path, (str, Path)):
        raise TypeError(
            f"dict_or_path is a {type(dict_or_path).__name__}; give a dict, or the path of a config.json or its folder."
        )
    if isinstance(dict_or_path, str) and _is_text(dict_or_path):
        raise ValueError("dict_or_path is a text and not a path; give json.loads of it, which is a dict, or a path.")
    path = at_home(dict_or_path)
    path = path / "config.json" if os.path.isdir(path) else path
    if not os.path.isfile(path):  # False as well for a name that is too long, where Path.is_file() raises
        raise not_there(path)
    data = path.read_bytes()
    try:
        config = from_json(data.decode(json.detect_encoding(data)))
    except (ValueError, RecursionError) as error:
        raise damaged(path, f"cut short or no JSON ({error})") from None
    if not isinstance(config, dict):
        raise ValueError(f"{path} holds a {type(config).__name__}; a config.json holds one object, from {{ to }}.")
    return config


def from_json(text):
    """json.loads, where blanks between the words may be of any kind, as a copy from a web page or an editor has them.

    Line and column of a fault are those of the text. Raises json.JSONDecodeError, which names a letter at fault that
    cannot be told from another by its looks, ValueError and RecursionError.
    """
    try:
        return json.loads(STRING_OR_BLANK.sub(lambda found: found[0] if found[0][0] == '"' else " ", text))
    except json.JSONDecodeError as fault:
        letter = text[fault.pos : fault.pos + 1]
        if letter.isascii():
            raise
        name = f"{letter} is U+{ord(letter):04X} {unicodedata.name(letter, '')}".rstrip()
        raise json.JSONDecodeError(name, text, fault.pos) from None


def _is_text(path):
    return path.lstrip().startswith("{") or ("\n" in path and not SPOILT_PATH.fullmatch(path))
