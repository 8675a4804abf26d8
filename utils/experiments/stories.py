"""The stories that every model of the toy language is trained and measured on."""

from utils.toy_language import ToyLanguage


def toy_stories():
    """-> training rows (20,000, 33), and held-out rows (1,000, 33) with their log-probabilities."""
    language = ToyLanguage()
    return language.stories(20_000, seed=0)[0], *language.stories(1_000, seed=1)
