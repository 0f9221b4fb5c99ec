"""Who is meant: short forms of names, pronouns, "the company", and the speaker's own "I"."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from remembrancer.hierarchy.extraction.names import CONCEPT, ORGANIZATION, PERSON
from remembrancer.hierarchy.extraction.parsed import lexicon
from remembrancer.hierarchy.extraction.parsed.mentions import LIKELY, SURE, Mention

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

_REACH = 3  # sentences that a pronoun looks back
_SUBJECTS = frozenset({"nsubj", "nsubjpass"})


@dataclass(frozen=True)
class Name:
    """What a text names: its fullest name, and what it is."""

    text: str
    kind: str


class Register:
    """The names of an episode, each under its fullest form.

    "Vasquez" after, or before, "Teodor Vasquez" is he; "Halcyon" is "Halcyon FC". A short form that two longer names
    could have stays by itself, and so does a place.
    """

    def __init__(self, mentions: Iterable[Mention], *, speakers: Iterable[str] = ()) -> None:
        """Register all mentions of an episode, in their order, and those who speak in it."""
        listed = [*(Mention(speaker, 0, 0, 0, PERSON, SURE) for speaker in dict.fromkeys(speakers)), *mentions]
        kinds = _surest(listed)
        self._full = {name: _fullest(name, kinds) for name in kinds}
        merged = _surest([_renamed(one, self._full[one.name]) for one in listed if _counts(one, self._full)])
        self._names = {name: Name(name, merged.get(name, kinds[name])[0]) for name in set(self._full.values())}

    def named(self, name: str) -> Name | None:
        """The entry for a name as it was written."""
        full = self._full.get(name)
        return None if full is None else self._names[full]

    def begins(self, word: str) -> Name | None:
        """The one organization whose name begins with this word, for a first word that was not taken for a name."""
        found = [
            one for one in self._names.values() if one.kind == ORGANIZATION and one.text.split()[0] == word != one.text
        ]
        return found[0] if len(found) == 1 else None


def _counts(mention: Mention, full: dict[str, str]) -> bool:
    """Whether a mention's kind says something of the full name: short forms alone are often mistaken."""
    return mention.name == full[mention.name] or mention.certainty >= LIKELY


def _renamed(mention: Mention, name: str) -> Mention:
    return Mention(name, mention.start, mention.end, mention.head, mention.kind, mention.certainty)


def _surest(mentions: Sequence[Mention]) -> dict[str, tuple[str, int]]:
    kinds: dict[str, tuple[str, int]] = {}
    for mention in mentions:
        if mention.certainty > kinds.get(mention.name, ("", 0))[1]:
            kinds[mention.name] = (mention.kind, mention.certainty)
    return kinds


def _fullest(name: str, kinds: dict[str, tuple[str, int]]) -> str:
    words = name.split()
    kind, certainty = kinds[name]
    if kind == lexicon.LOCATION:
        return name
    fuller = []
    for other, (other_kind, _) in kinds.items():
        longer = other.split()
        if len(longer) <= len(words):
            continue
        is_surname = other_kind == PERSON and len(words) == 1 and words[0] in (longer[0], longer[-1])
        is_short = other_kind == ORGANIZATION and longer[: len(words)] == words
        agrees = kind in (other_kind, CONCEPT) or certainty < SURE
        if agrees and (is_surname or is_short):
            fuller.append(other)
    return fuller[0] if len(fuller) == 1 else name


class References:
    """Resolves the tokens of one text to names."""

    def __init__(self, doc: Doc, mentions: Iterable[Mention], register: Register, *, speaker: str | None) -> None:
        """Prepare a text.

        Args:
            doc: The parsed text.
            mentions: The names in it.
            register: Names of the whole episode.
            speaker: Whose words they are, if that is known by name.
        """
        self._doc = doc
        self._speaker = register.named(speaker) if speaker else None
        self._named: dict[int, Name] = {}
        for mention in mentions:
            name = register.named(mention.name)
            if name is not None:
                self._named[mention.head] = name
        for token in doc:
            is_capital = token.is_sent_start and token.text[:1].isupper() and token.pos_ in {"NOUN", "ADJ", "X"}
            if is_capital and token.i not in self._named:
                begun = register.begins(token.text)
                if begun is not None:
                    self._named[token.i] = begun
        self._sentences: list[Span] = list(doc.sents)
        self._sentence_of = {token.i: place for place, sentence in enumerate(self._sentences) for token in sentence}

    def name_at(self, token: Token) -> Name | None:
        """The name that a token stands for, by itself or by reference; `None` when that is not told."""
        if token.i in self._named:
            return self._named[token.i]
        word = token.lower_
        if token.pos_ == "PRON" or token.tag_ in {"PRP", "PRP$"}:
            if word in lexicon.FIRST_PERSON:
                return self._speaker
            if word in lexicon.HE_OR_SHE:
                return self._salient(token, PERSON)
            if word in lexicon.IT:
                return self._salient(token, ORGANIZATION)
            return None
        if token.pos_ in {"NOUN", "PROPN"}:
            return self._described(token)
        return None

    def names_in(self, start: int, end: int) -> list[Name]:
        """All names that the characters from `start` to `end` mention or refer to, in order, each once."""
        found: dict[Name, None] = {}
        for token in self._doc:
            if start <= token.idx < end:
                name = self.name_at(token)
                if name is not None:
                    found.setdefault(name)
        return list(found)

    def _described(self, token: Token) -> Name | None:
        """Of "the company" the organization spoken of; of "the founder, Ada Berg" her; of "the Kafka cluster" Kafka."""
        for child in token.children:
            if child.dep_ == "appos" and child.i in self._named:
                return self._named[child.i]
            if child.dep_ == "acl" and child.lower_ in {"named", "called"}:
                named = next((self._named[one.i] for one in child.children if one.i in self._named), None)
                if named is not None:
                    return named
            if child.dep_ == "compound" and child.i in self._named and token.lemma_.lower() in lexicon.CATEGORIES:
                named = self._named[child.i]
                return named if named.kind != lexicon.LOCATION else None  # "a Denver startup" is not Denver
        is_definite = any(child.dep_ == "det" and child.lower_ in lexicon.DEFINITE for child in token.children)
        if not is_definite or token.lemma_.lower() not in lexicon.ORGANIZATION_NOUNS or token.tag_ != "NN":
            return None
        if any(child.dep_ in {"prep", "compound"} or _restricts(child, token) for child in token.children):
            return None
        return self._salient(token, ORGANIZATION)

    def _salient(self, token: Token, kind: str) -> Name | None:
        """Who is spoken of: the subject of a clause around this one, else of the sentences before, latest first."""
        place = self._sentence_of[token.i]
        for clause in token.ancestors:
            for child in clause.lefts:
                name = self._named.get(child.i)
                is_before = child.i < token.i and child.dep_ in _SUBJECTS and not _is_within(token, child)
                if is_before and name is not None and name.kind == kind and not _shares_clause(token, child):
                    return name
        for earlier in range(place - 1, max(-1, place - 1 - _REACH), -1):
            found = self._in_sentence(self._sentences[earlier], kind)
            if found is not None:
                return found
        return None

    def _in_sentence(self, sentence: Span, kind: str) -> Name | None:
        others = []
        for token in sentence:
            name = self._named.get(token.i)
            if name is None or name.kind != kind:
                continue
            if token.dep_ in _SUBJECTS or token.dep_ == "ROOT":
                return name
            others.append(name)
        return others[0] if len(set(others)) == 1 else None


def _restricts(clause: Token, noun: Token) -> bool:
    """Whether a relative clause says which one is meant, which no comma before it would."""
    return clause.dep_ == "relcl" and not any(
        one.text == "," for one in noun.doc[noun.i + 1 : max(noun.i + 2, clause.left_edge.i + 1)]
    )


def _is_within(token: Token, other: Token) -> bool:
    return token == other or other.is_ancestor(token)


def _shares_clause(token: Token, subject: Token) -> bool:
    """Whether subject and token are arguments of one verb, so that the token cannot mean the subject.

    A possessive may: "Ada sold her company".
    """
    return token.dep_ != "poss" and not any(
        one.dep_ in {"ccomp", "relcl", "advcl", "conj", "acl", "xcomp"} for one in [token, *_below(token, subject.head)]
    )


def _below(token: Token, verb: Token) -> Iterable[Token]:
    """The tokens between a token and the verb above it."""
    for one in token.ancestors:
        if one == verb:
            return
        yield one
