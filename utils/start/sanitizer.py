"""A pytest plugin, named in pyproject.toml: nbval's sanitizer is found from whatever folder pytest is started in."""


def pytest_configure(config) -> None:
    """Give nbval the project's sanitizer, unless the command line names another one."""
    if getattr(config.option, "nbval_sanitize_with", "") is None:
        config.option.nbval_sanitize_with = str(config.rootpath / "tests/nbval_sanitize.cfg")
