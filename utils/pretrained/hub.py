"""The published GPT-2 files by name, through huggingface_hub if it is installed and its server can be reached."""

from pathlib import Path

GPT2_NAMES = ("gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl")
FILES = ("config.json", "model.safetensors")
SECONDS = 5  # the hub itself would try for half a minute before it gives up


def downloaded(name) -> Path:
    """The folder with a published GPT-2: from the hub's cache if it is there, else downloaded into it.

    name: one of GPT2_NAMES. Raises FileNotFoundError if it cannot be had; what came of a broken download is removed.
    """
    try:
        import huggingface_hub as hub  # here, since only this needs it
        import huggingface_hub.constants
    except ImportError:
        raise _not_here(name, "huggingface_hub, which would fetch it, is not installed") from None
    repo = f"openai-community/{name}"
    found = [hub.try_to_load_from_cache(repo, file) for file in FILES]
    if not all(isinstance(path, str) for path in found):
        found = _fetch(hub, repo, name)
    return Path(found[0]).parent


def _fetch(hub, repo, name):
    folder = Path(hub.constants.HF_HUB_CACHE) / f"models--{repo.replace('/', '--')}"
    before = {folder, *folder.rglob("*")} if folder.exists() else set()
    try:
        hub.get_session().head(hub.constants.ENDPOINT, timeout=SECONDS)
        return [hub.hf_hub_download(repo, file) for file in FILES]
    except BaseException as error:  # an interrupt as well
        _remove({folder, *folder.rglob("*")} - before)
        if isinstance(error, Exception):
            raise _not_here(name, f"cannot be fetched from {hub.constants.ENDPOINT} ({type(error).__name__})") from None
        raise


def _remove(paths):
    for path in sorted(paths, reverse=True):  # what is inside a folder comes before it
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)


def _not_here(name, why):
    return FileNotFoundError(
        f"{name!r} is not on this machine and {why}; go on with another model, or give the path of a folder "
        "that holds config.json and model.safetensors."
    )
