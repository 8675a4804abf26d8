"""Training mode and eval mode, put back as they were."""

from contextlib import contextmanager


@contextmanager
def in_mode(model, training: bool):
    """`with in_mode(model, training=False):` all parts are in eval mode inside, and each in its own afterwards.

    A part may have a mode of its own: a frozen block in a model that trains. An error changes nothing of this.
    """
    before = [(module, module.training) for module in model.modules()]
    model.train(training)
    try:
        yield
    finally:
        for module, mode in before:
            module.training = mode
