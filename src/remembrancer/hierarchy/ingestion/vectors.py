"""Putting embeddings on records: of a message as it is spoken, of a fact's words, of an entity's name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from remembrancer.hierarchy.ingestion.episodes import GrownEpisode
from remembrancer.ports import Embedder
from remembrancer.ports.embedder import embedded
from remembrancer.records import Entity, Episode, Fact, Message
from remembrancer.records.vector import stored_vector

Vector = tuple[float, ...]


class Vectors:
    """Embeds texts, each once; without an embedder records pass through unchanged."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._known: dict[str, Vector] = {}

    async def _of(self, texts: Mapping[str, str]) -> list[Vector]:
        """One vector a text, in order; the values say whose text it is, for errors.

        Raises:
            InvalidInputError: The embedder gave another number of vectors than texts, or one that cannot be searched.
            EmbeddingDimensionMismatchError: It gave a vector of another length than it says.
        """
        assert self._embedder is not None  # noqa: S101 - callers ask `is_on` first
        wanted = [text for text in texts if text not in self._known]
        if wanted:
            vectors = await embedded(self._embedder, wanted)
            for text, vector in zip(wanted, vectors, strict=True):
                self._known[text] = _checked(vector, texts[text], dimensions=self._embedder.dimensions)
        return [self._known[text] for text in texts]

    @property
    def is_on(self) -> bool:
        """Whether there is an embedder."""
        return self._embedder is not None

    async def on_facts(self, facts: Sequence[Fact]) -> list[Fact]:
        """The facts with their vectors; one that brings its own keeps it."""
        bare = {fact.content: f"fact {fact.id}" for fact in facts if fact.embedding is None} if self.is_on else {}
        made = dict(zip(bare, await self._of(bare), strict=True)) if bare else {}
        return [
            fact.model_copy(update={"embedding": made[fact.content]})
            if fact.embedding is None and fact.content in made
            else fact
            for fact in facts
        ]

    async def on_entities(self, entities: Sequence[Entity]) -> list[Entity]:
        """The entities with their vectors; one that brings its own keeps it."""
        bare = {one.name: f"entity {one.id}" for one in entities if one.embedding is None} if self.is_on else {}
        made = dict(zip(bare, await self._of(bare), strict=True)) if bare else {}
        return [
            entity.model_copy(update={"embedding": made[entity.name]})
            if entity.embedding is None and entity.name in made
            else entity
            for entity in entities
        ]

    async def on_episodes(self, grown: Sequence[GrownEpisode]) -> list[Episode]:
        """The episodes with vectors on their new messages, their own being the mean of their messages'."""
        if not self.is_on:
            return [one.episode for one in grown]
        bare = {message.id: message for one in grown for message in one.added if message.embedding is None}
        texts = {message.spoken: f"message {message.id}" for message in bare.values()}
        vectors = dict(zip(texts, await self._of(texts), strict=True))
        made = {message_id: vectors[message.spoken] for message_id, message in bare.items()}
        return [_embedded(one.episode, made) for one in grown]


def _checked(vector: Sequence[float], whose: str, *, dimensions: int) -> Vector:
    return stored_vector(tuple(map(float, vector)), dimensions=dimensions, field=f"embedder ({whose})")


def _embedded(episode: Episode, made: dict[str, Vector]) -> Episode:
    messages = tuple(_with_vector(message, made.get(message.id)) for message in episode.messages)
    vectors = [message.embedding for message in messages if message.embedding is not None]
    # A message may bring a vector of another length, for which the store refuses it by name.
    is_one_length = len({len(vector) for vector in vectors}) == 1
    mean = [sum(numbers) / len(vectors) for numbers in zip(*vectors, strict=True)] if is_one_length else None
    # Opposite vectors may cancel out; a vector of zeros has no direction, and none is the honest answer.
    embedding = mean if mean is not None and any(abs(number) > 1e-12 for number in mean) else None
    return episode.model_copy(
        update={"messages": messages, "embedding": None if embedding is None else tuple(embedding)}
    )


def _with_vector(message: Message, vector: Vector | None) -> Message:
    return message if vector is None else message.model_copy(update={"embedding": vector})
