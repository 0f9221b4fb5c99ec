"""Names in a parsed text: runs of proper nouns, joined as the parse joins them; quoted phrases; what each one is.

The pipeline's own entities tell types and hold names together that have small words in them ("University of Oslo");
where they end is told by the words, since small pipelines often take in a word too many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remembrancer.hierarchy.extraction.names import CONCEPT, ORGANIZATION, PERSON
from remembrancer.hierarchy.extraction.parsed import lexicon

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_JOINTS = frozenset("& of the and - ' de la van von der del di 's".split())  # noqa: SIM905 - words
_COMPOUND = frozenset("compound flat nmod amod nn name".split())  # noqa: SIM905 - labels
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "``": "''", "‘": "’", "'": "'"}
_CODE = re.compile(r"@\w+|[a-z]+[A-Z]\w*")
_LONGEST_QUOTE = 8  # words of a quoted phrase that may be a name; more are somebody's speech

SURE, LIKELY, WEAK = 3, 2, 1


@dataclass(frozen=True)
class Mention:
    """A name at one place.

    Attributes:
        name: As it is written, without article, title and closing full stop.
        start: Its first token.
        end: The token after its last.
        head: The token by which the sentence holds it.
        kind: What it is.
        certainty: How sure the kind is: `SURE` by a word in or at the name, `LIKELY` by its part in the sentence,
            `WEAK` by the pipeline's label or by shape.
    """

    name: str
    start: int
    end: int
    head: int
    kind: str
    certainty: int


def find_mentions(doc: Doc) -> list[Mention]:
    """The names of a text, in its order; none overlaps another."""
    quoted = list(_quoted(doc))
    taken = {place for span in quoted for place in range(span.start, span.end)}
    runs = [span for span in _runs(doc) if taken.isdisjoint(range(span.start, span.end))]
    found = [_mention(span, is_quoted=False) for span in runs] + [_mention(span, is_quoted=True) for span in quoted]
    return sorted((one for one in found if one is not None), key=_start)


def _start(mention: Mention) -> int:
    return mention.start


def _quoted(doc: Doc) -> Iterator[Span]:
    place = 0
    while place < len(doc):
        closing = _QUOTES.get(doc[place].text)
        if closing is not None and not (doc[place].text == "'" and place and not doc[place - 1].whitespace_):
            for end in range(place + 1, min(place + 2 + _LONGEST_QUOTE, len(doc))):
                if doc[end].text == closing:
                    inner = doc[place + 1 : end]
                    if len(inner) and not any(token.pos_ in {"VERB", "AUX"} or token.is_punct for token in inner):
                        yield inner
                    place = end
                    break
        place += 1


def _runs(doc: Doc) -> Iterator[Span]:
    place = 0
    while place < len(doc):
        if not _is_name_word(doc[place]):
            place += 1
            continue
        end = place + 1
        while (longer := _joined(doc, place, end)) is not None:
            end = longer
        yield doc[place:end]
        place = end


def _is_name_word(token: Token) -> bool:
    if token.ent_type_ in lexicon.NUMBERS or token.is_punct or not any(letter.isalpha() for letter in token.text):
        return False
    if _CODE.fullmatch(token.text):
        return True
    if token.pos_ == "PROPN":
        return not token.text.islower()
    if not token.text[0].isupper() or token.pos_ not in {"NOUN", "ADJ", "VERB", "X"}:
        return False
    is_compound = token.dep_ in _COMPOUND and token.head.pos_ == "PROPN" and token.head.i == token.i + 1
    return is_compound or (token.ent_type_ in lexicon.LABELS and not token.is_sent_start)


def _joined(doc: Doc, start: int, end: int) -> int | None:
    """The end of the run when the next word, or the one after a joint, belongs to it."""
    if end < len(doc) and _is_name_word(doc[end]):
        last, following = doc[end - 1], doc[end]
        same_entity = last.ent_type and last.ent_type == following.ent_type and following.ent_iob_ == "I"
        if same_entity or last.head == following or following.head == last:
            return end + 1
        if last.head == following.head and last.dep_ in _COMPOUND and following.dep_ in _COMPOUND:
            return end + 1
        return None
    for width in (1, 2):
        far = end + width
        if far >= len(doc) or not _is_name_word(doc[far]):
            continue
        between = doc[end:far]
        if any(token.text.lower() not in _JOINTS for token in between):
            continue
        is_tight = not any(token.whitespace_ for token in doc[end - 1 : far])
        is_entity = doc[start].ent_type_ in lexicon.LABELS and all(
            token.ent_iob_ == "I" and token.ent_type == doc[start].ent_type for token in doc[end : far + 1]
        )
        with_and = any(token.text.lower() in {"and", "'s"} for token in between)
        if between.text == "&" or (is_tight and between.text == "-") or (is_entity and not with_and):
            return far + 1
    return None


def _mention(span: Span, *, is_quoted: bool) -> Mention | None:
    doc, start, end = span.doc, span.start, span.end
    has_title = False
    while not is_quoted and end - start > 1 and _is_title(doc[start]):
        start += 1
        has_title = True
    name = doc[start:end].text
    if not is_quoted:
        name = name.rstrip(".") if not name.lower().endswith((" jr.", " sr.")) else name
        if start == end - 1 and name.lower() in (lexicon.TITLES | lexicon.ROLES):
            return None
    if not name.strip():
        return None
    head = doc[start:end].root
    kind, certainty = (CONCEPT, SURE) if is_quoted else _kind(doc[start:end], head, has_title=has_title)
    return Mention(name, start, end, head.i, kind, certainty)


def _is_title(token: Token) -> bool:
    word = token.text.lower().rstrip(".")
    return word in lexicon.TITLES or word in lexicon.ROLES


def _kind(span: Span, head: Token, *, has_title: bool) -> tuple[str, int]:
    words = [token.text.lower().rstrip(".") for token in span]
    if has_title or words[0].startswith("@"):
        return PERSON, SURE
    if _CODE.fullmatch(span[0].text) or words[-1] in lexicon.THING_WORDS:
        return CONCEPT, SURE
    if _is_place(head):
        return lexicon.LOCATION, SURE
    if len(words) > 1 and (words[-1] in lexicon.ORGANIZATION_WORDS or "&" in words):
        return ORGANIZATION, SURE
    told = _by_neighbours(span, head)
    if told is not None:
        return told, SURE
    label = _labelled(head)
    if label == PERSON and len(words) > 1:
        return PERSON, LIKELY
    told = _by_part(head)
    if told is not None and head.ent_type_ not in {"GPE", "LOC"}:  # buildings are less often recognised rightly
        return told, LIKELY
    if label is not None:
        return label, WEAK
    is_full_name = 1 < len(words) <= 3 and all(word.isalpha() for word in words)
    has_article = any(child.dep_ == "det" for child in head.children)
    return (PERSON if is_full_name and head.pos_ == "PROPN" and not has_article else CONCEPT), WEAK


def _labelled(head: Token) -> str | None:
    return lexicon.LABELS.get(head.ent_type_)


def _by_neighbours(span: Span, head: Token) -> str | None:
    """What the words right at the name call it."""
    before = span.doc[span.start - 1] if span.start else None
    if before is not None and (before.head == head or before.dep_ in _COMPOUND):
        if before.lemma_.lower() in lexicon.ROLES:
            return PERSON
        if before.lemma_.lower() in lexicon.ORGANIZATION_NOUNS:
            return ORGANIZATION
    for child in head.children:
        if child.dep_ == "appos" and child.i > head.i and child.pos_ == "NOUN":
            if child.lemma_.lower() in lexicon.ROLES:
                return PERSON
            if child.lemma_.lower() in lexicon.ORGANIZATION_NOUNS:
                return ORGANIZATION
        if child.dep_ == "relcl" and any(word.lower_ in {"who", "whom"} for word in child.children):
            return PERSON
    if head.dep_ == "appos" and head.head.pos_ == "NOUN" and head.i > head.head.i:
        if head.head.lemma_.lower() in lexicon.ROLES:
            return PERSON
        if head.head.lemma_.lower() in lexicon.ORGANIZATION_NOUNS:
            return ORGANIZATION
    if head.dep_ == "poss" and head.head.lemma_.lower() in lexicon.ORGANIZATION_PARTS:
        return ORGANIZATION
    if head.dep_ == "pobj" and head.head.lower_ in {"of", "at"}:
        return ORGANIZATION if head.head.head.lemma_.lower() in lexicon.COMPANY_ROLES else None
    return None


def _by_part(head: Token) -> str | None:
    """What the name's part in the sentence says of it."""
    verb = head.head
    lemma = verb.lemma_.lower()
    if head.dep_ in {"dobj", "nsubjpass"}:
        if lemma in lexicon.JOINED:
            return ORGANIZATION
        if lemma in lexicon.HUMAN_OBJECTS:
            return PERSON
        if lemma in lexicon.USED:
            return CONCEPT
    if head.dep_ == "nsubj" and lemma in lexicon.HUMAN_SUBJECTS:
        return PERSON
    if verb.dep_ == "agent" and verb.head.lemma_.lower() in lexicon.AUTHORED:
        return PERSON
    if head.dep_ == "pobj" and verb.dep_ == "prep":
        governor = verb.head.lemma_.lower()
        if verb.lower_ in lexicon.JOINED_WITH.get(governor, ()):
            return ORGANIZATION
        if verb.lower_ in {"of", "at"} and governor in lexicon.ROLES:
            return ORGANIZATION
        if verb.lower_ == "of" and any(word.lower_ in lexicon.PAST for word in verb.children):
            return ORGANIZATION
        if verb.lower_ == "from" and governor in lexicon.TRANSFERS:
            return ORGANIZATION
    return None


def _is_place(head: Token) -> bool:
    preposition = head.head
    if head.dep_ != "pobj" or preposition.lower_ not in {"in", "to", "from"}:
        return False
    return preposition.head.lemma_.lower() in lexicon.PLACED and preposition.head.pos_ == "VERB"
