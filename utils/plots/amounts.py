"""Large numbers as people say them, to three digits."""

BYTE_UNITS = {"PB": 1e15, "TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3, "bytes": 1}
WORDS = {"trillion": 1e12, "billion": 1e9, "million": 1e6}


def three_digits(amount) -> str:
    """129795.2 -> "129,795"; 51.17 -> "51.2"; 0.01157 -> "0.0116": whole from a hundred on."""
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"


def in_words(amount) -> str:
    """An amount with its word: 51.2e9 -> "51.2 billion"; below a million, the number itself."""
    for word, size in WORDS.items():
        if amount >= 0.9995 * size:  # rounds to 1.00 of this or more
            return f"{three_digits(amount / size)} {word}"
    return three_digits(amount)


def byte_unit(n_bytes) -> str:
    """The largest of BYTE_UNITS that n_bytes fill; "bytes" for none."""
    return next((unit for unit, size in BYTE_UNITS.items() if n_bytes >= size), "bytes")


def in_bytes(n_bytes) -> str:
    """A number of bytes in that unit: 75497472 -> "75.5 MB"."""
    unit = byte_unit(n_bytes)
    return f"{three_digits(n_bytes / BYTE_UNITS[unit])} {unit}"
