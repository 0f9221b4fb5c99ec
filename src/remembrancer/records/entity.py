"""A node of the knowledge graph: somebody or something that facts mention."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata

from remembrancer.records.base import OpenMap, Record
from remembrancer.records.instant import Instant
from remembrancer.records.key import Id, NonEmptyKey, NonEmptyText
from remembrancer.records.provenance import Provenance
from remembrancer.records.vector import Embedding

_ARTICLE = re.compile(r"^(?:the|a|an)\s+")
_DROPPED = str.maketrans("", "", ".,;:!?'\"’")


class Entity(Record):
    """Somebody or something.

    Attributes:
        name: As it is called.
        entity_type: For example `person`, `organization`, `concept`.
        attributes: Any JSON object.
        invalidated_at: When it was closed; absent: it is live.
        superseded_by: The entity that replaced it.
    """

    id: Id
    name: NonEmptyText
    entity_type: NonEmptyKey
    attributes: OpenMap = {}
    embedding: Embedding | None = None
    provenance: Provenance
    created_at: Instant
    updated_at: Instant
    invalidated_at: Instant | None = None
    superseded_by: Id | None = None

    @property
    def is_live(self) -> bool:
        """Whether it has been neither closed nor superseded."""
        return self.invalidated_at is None and self.superseded_by is None


def normalize_entity_name(name: str) -> str:
    """The plain form of a name.

    Lower case, without one leading article, without `. , ; : ! ? ' "` and ’, white space collapsed and trimmed. An
    article alone, with white space behind it, is nothing.
    """
    text = _ARTICLE.sub("", name.lower().lstrip())
    return " ".join(text.translate(_DROPPED).split())


def folded_name(name: str) -> str:
    """The plain form of a name with compatible characters made one (NFKC) and case folded; may be empty.

    So full-width names, and `ß` and `SS`, meet; of an ASCII name this is the plain form itself.
    """
    plain = normalize_entity_name(unicodedata.normalize("NFKC", name))
    return unicodedata.normalize("NFKC", plain.casefold())


def name_key(name: str, entity_type: str) -> str:
    """Digest under which names of one entity meet: SHA-256, in hex, of the folded name and the type.

    A digest, because names have no bound in length and the key is indexed. A name that folds to nothing keeps its own
    spelling, so that two such names do not meet.
    """
    text = json.dumps([folded_name(name) or name, entity_type], ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
