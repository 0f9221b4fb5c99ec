"""What every embedder does to its texts before it reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remembrancer.records.errors import InvalidInputError


def checked_texts(texts: Sequence[str]) -> list[str]:
    """The texts as a list.

    Raises:
        InvalidInputError: `texts` is one string instead of a sequence of them, or an item is not a `str`.
    """
    if isinstance(texts, str | bytes) or not isinstance(texts, Sequence):
        raise InvalidInputError("texts", f"must be a sequence of strings, not {type(texts).__name__}")
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidInputError(f"texts.{position}", f"must be a string, not {type(text).__name__}")
    return list(texts)


def encodable(text: str) -> str:
    """The text with surrogate pairs joined and lone surrogates replaced by U+FFFD, since tokenizers take UTF-8 only."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def batches_by_length(lengths: Sequence[int], *, most_items: int, most_cells: int) -> Iterator[list[int]]:
    """Positions grouped with others of like length, so that little of a padded batch is padding. Shortest first.

    A batch has at most `most_items` positions and, padded to its longest, at most `most_cells` cells; an item longer
    than that is a batch of its own.
    """
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) >= most_items or (len(batch) + 1) * lengths[position] > most_cells):
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch
