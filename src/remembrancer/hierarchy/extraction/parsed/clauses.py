"""Relations in a parsed text: what each clause, apposition and possessive tells of the names in it.

A relation is the verb's lemma, joined with the preposition that leads to the object (`work_at`), or the noun that
says what somebody is, joined likewise (`director_of`). Only what is told to be so becomes one: see `factuality`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from remembrancer.hierarchy.extraction.names import CONCEPT, ORGANIZATION, PERSON
from remembrancer.hierarchy.extraction.parsed import lexicon
from remembrancer.hierarchy.extraction.parsed.factuality import is_denied, is_told
from remembrancer.hierarchy.extraction.parsed.references import Name, References

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_SUBJECTS = frozenset({"nsubj", "csubj"})
_CONTROLLED = frozenset({"xcomp", "advcl"})
_ROLE_PREPOSITIONS = frozenset("of at for in with to".split())  # noqa: SIM905 - words


class Relation(NamedTuple):
    """One name's relation to another."""

    source: Name
    relation: str
    target: Name


class Clauses:
    """Reads the relations of one text."""

    def __init__(self, doc: Doc, references: References) -> None:
        self._doc = doc
        self._references = references

    def relations(self) -> Iterator[Relation]:
        """The relations, in the order of the words that carry them; a name has none to itself."""
        for token in self._doc:
            for relation in self._at(token):
                if relation.source.text != relation.target.text:
                    yield relation

    def _at(self, token: Token) -> Iterator[Relation]:
        if token.lemma_.lower() == "be" and token.pos_ in {"AUX", "VERB"} and token.dep_ not in {"aux", "auxpass"}:
            if is_told(token):
                yield from self._copula(token)
        elif token.pos_ == "VERB":
            if is_told(token):
                yield from self._verb(token)
        elif token.pos_ in {"NOUN", "PROPN"}:
            yield from self._role(token)
            yield from self._event(token)

    # Verbs

    def _verb(self, verb: Token) -> Iterator[Relation]:
        lemma = _lemma(verb)
        says = verb.lemma_.lower() in lexicon.SPEECH
        if says and verb.lemma_.lower() not in lexicon.AMBIGUOUS_SPEECH:
            return
        if says and any(child.dep_ == "ccomp" for child in verb.children):
            return
        if verb.lemma_.lower() in lexicon.AFFECTS | lexicon.REFUSALS:
            return
        subjects = self._names(self._subjects(verb))
        if _is_passive(verb):
            yield from _paired(self._names(self._agents(verb)), lemma, subjects)
            if not any(child.dep_ == "agent" for child in verb.children):
                yield from self._prepositions(verb, subjects, lemma)
            return
        objects = self._objects(verb)
        yield from _paired(subjects, lemma, self._targets(objects))
        if all(_is_amount(one) for one in objects):
            # "Raised 12 million from Acme", "scored nine goals for Acme": an amount is no object of its own.
            yield from self._prepositions(verb, subjects, lemma)
            for preposition, target in (pair for one in objects for pair in _prepositional(one)):
                if preposition != "of":
                    yield from _paired(subjects, f"{lemma}_{preposition}", self._names(self._coordinated(target)))

    def _objects(self, verb: Token) -> list[Token]:
        own = [child for child in verb.children if child.dep_ in {"dobj", "obj"}]
        # "Named Ada Berg director": both are complements to the parser.
        own = own or [child for child in verb.children if child.dep_ == "oprd" and child.pos_ == "PROPN"]
        if not own and not any(child.dep_ in {"prep", "ccomp", "xcomp"} for child in verb.children):
            # "Reviewed and approved the report": the second verb has the object of both.
            later = [child for child in verb.children if child.dep_ == "conj" and child.pos_ == "VERB"]
            own = [one for other in later if not _subject_tokens(other) for one in other.children if one.dep_ == "dobj"]
        return [one for token in own for one in self._coordinated(token)]

    def _prepositions(self, verb: Token, subjects: list[Name], lemma: str) -> Iterator[Relation]:
        for preposition, target in _prepositional(verb):
            if preposition == "as":
                # "Works as a designer at Acme": what comes behind the role is still said of the work.
                for inner, place in _prepositional(target):
                    yield from _paired(subjects, f"{lemma}_{inner}", self._names(self._coordinated(place)))
                continue
            yield from _paired(subjects, f"{lemma}_{preposition}", self._targets(self._coordinated(target)))

    def _subjects(self, verb: Token) -> list[Token]:
        own = _subject_tokens(verb)
        if own:
            return [one for token in own for one in self._behind_relative(token, verb)]
        if (verb.dep_ == "acl" and verb.tag_ in {"VBN", "VBG", "VBD"}) or (verb.dep_ == "relcl" and _is_passive(verb)):
            # "A firm led by Ada"; and a main verb that small parsers hang on its subject.
            return self._holders_of(verb.head)
        if verb.dep_ == "conj" and verb.head.pos_ in {"VERB", "AUX"} and _is_passive(verb) == _is_passive(verb.head):
            return self._subjects(verb.head)
        if verb.dep_ in _CONTROLLED and verb.head.pos_ in {"VERB", "AUX"} and verb.head.i != verb.i:
            is_aim = verb.dep_ == "advcl" and any(child.lower_ == "to" for child in verb.children)
            return [] if is_aim else self._subjects(verb.head)
        return []

    def _agents(self, verb: Token) -> list[Token]:
        return [
            one
            for agent in verb.children
            if agent.dep_ == "agent" or (agent.dep_ == "prep" and agent.lower_ == "by")
            for target in agent.children
            if target.dep_ == "pobj"
            for one in self._coordinated(target)
        ]

    def _behind_relative(self, token: Token, verb: Token) -> list[Token]:
        is_relative = verb.dep_ == "relcl" and token.lower_ in lexicon.RELATIVE
        return self._holders_of(verb.head) if is_relative else self._coordinated(token)

    def _holders_of(self, noun: Token) -> list[Token]:
        """Whom a clause behind a noun speaks of; in "Acme is a firm led by Ada" and "Acme, a firm led by Ada" Acme."""
        copula = noun.head
        if self._references.name_at(noun) is not None:
            return self._coordinated(noun)
        if noun.dep_ == "appos":
            return self._coordinated(noun.head)
        if noun.dep_ != "attr":
            return self._coordinated(noun)
        return self._subjects(copula) if is_told(copula) else []

    # To be

    def _copula(self, verb: Token) -> Iterator[Relation]:
        subjects = [one for token in _subject_tokens(verb) for one in self._behind_relative(token, verb)]
        for child in verb.children:
            if child.dep_ in {"attr", "acomp"}:
                yield from self._complement(subjects, child)
            elif child.dep_ == "prep":
                for preposition, target in _prepositional(verb):
                    if preposition in {"in", "at", "from", "with"}:
                        yield from _paired(
                            self._names(subjects), f"be_{preposition}", self._names(self._coordinated(target))
                        )
                break

    def _complement(self, subjects: list[Token], complement: Token) -> Iterator[Relation]:
        named = self._references.name_at(complement)
        if named is not None:
            # "My manager is Ada."
            for subject in subjects:
                for owner in self._owners(subject):
                    yield Relation(named, f"{_noun(subject)}_of", owner)
            return
        if complement.pos_ not in {"NOUN", "PROPN", "ADJ"}:
            return
        for one in self._coordinated(complement):
            yield from self._belonging(self._names(subjects), one)

    # Nouns

    def _role(self, noun: Token) -> Iterator[Relation]:
        """What a name is said to be at once: "Ada, head of Acme", "Acme's head Ada", "Ada, formerly of Acme"."""
        name = self._references.name_at(noun)
        is_name = name is not None and noun.pos_ == "PROPN"
        if is_name and name is not None:
            for child in noun.children:
                if child.dep_ == "appos" and self._references.name_at(child) is None and not is_denied(child):
                    yield from self._belonging([name], child)
                if child.dep_ == "compound" and child.lemma_.lower() in lexicon.ROLES:
                    yield from self._owned(name, child, noun)
                if child.dep_ == "prep":
                    yield from self._affiliation(name, child)
        elif noun.lemma_.lower() in lexicon.ROLES:
            for child in noun.children:
                if child.dep_ == "appos":
                    yield from self._belonging(self._names([child]), noun)

    def _affiliation(self, name: Name, preposition: Token) -> Iterator[Relation]:
        is_over = any(child.lemma_.lower() in lexicon.PAST for child in preposition.children)
        targets = [one for child in preposition.children if child.dep_ == "pobj" for one in self._coordinated(child)]
        if is_over and preposition.lower_ in {"of", "at", "with"}:
            yield from _paired([name], f"formerly_{preposition.lower_}", self._names(targets))

    def _belonging(self, names: list[Name], noun: Token) -> Iterator[Relation]:
        """What the noun says of the names, with whom it is: "a founder of Acme", "Acme's founder"."""
        word = _noun(noun)
        yield from (Relation(name, f"{word}_of", owner) for name in names for owner in self._owners(noun))
        for preposition, target in _prepositional(noun):
            if preposition in _ROLE_PREPOSITIONS:
                yield from _paired(names, f"{word}_{preposition}", self._names(self._coordinated(target)))

    def _owned(self, name: Name, role: Token, holder: Token) -> Iterator[Relation]:
        """ "Acme's founder Ada Berg", "former Acme engineer Ada Berg"."""
        before = self._names([child for child in role.children if child.dep_ in {"compound", "nmod"}])
        owners = self._owners(holder) or [one for one in before if one.kind == ORGANIZATION]
        words = {child.lower_ for one in (role, holder) for child in one.lefts}
        past = "former_" if words & lexicon.PAST else ""
        yield from (Relation(name, f"{past}{role.lemma_.lower()}_of", owner) for owner in owners)

    def _owners(self, noun: Token) -> list[Name]:
        owners = [child for child in noun.children if child.dep_ == "poss"]
        return self._names([one for owner in owners for one in self._coordinated(owner)])

    def _event(self, noun: Token) -> Iterator[Relation]:
        """ "The acquisition of Acme by Initech", "Initech announced the acquisition of Acme"."""
        mutual = lexicon.MUTUAL.get(noun.lemma_.lower())
        verb = mutual or lexicon.EVENTS.get(noun.lemma_.lower()) or lexicon.EVENTS.get(noun.lower_)
        if verb is None or noun.pos_ != "NOUN" or is_denied(noun):
            return
        above = noun.head
        if above.pos_ in {"VERB", "AUX"} and not is_told(above):
            return
        phrases = list(_prepositional(noun))
        objects = [one for word, target in phrases if word == "of" for one in self._names(self._coordinated(target))]
        agents = [one for word, target in phrases if word == "by" for one in self._names(self._coordinated(target))]
        if mutual is not None:
            yield from self._mutual(noun, mutual)
            return
        agents = agents or self._owners(noun)
        if not agents and noun.dep_ == "dobj" and above.lemma_.lower() in lexicon.ANNOUNCING:
            agents = self._names(self._subjects(above))
        yield from _paired(agents, verb, objects)
        for word, target in phrases:
            if word in {"from", "to"}:
                yield from _paired(objects, f"{verb}_{word}", self._names(self._coordinated(target)))

    def _mutual(self, noun: Token, relation: str) -> Iterator[Relation]:
        sides = self._owners(noun)
        for word, target in _prepositional(noun):
            if word in {"of", "between", "with"}:
                sides += self._names(self._coordinated(target))
        yield from _paired(sides[:1], relation, sides[1:])

    # Arguments

    def _coordinated(self, token: Token) -> list[Token]:
        """A token and those that stand beside it: "Ada, Bo and Cy"."""
        found = [token]
        for one in found:
            for child in one.children:
                is_listed = child.dep_ == "conj" or (child.dep_ == "appos" and self._is_list(one, child))
                if is_listed and child.pos_ in {"NOUN", "PROPN", "PRON"} and not is_denied(child):
                    found.append(child)
        return found

    def _is_list(self, token: Token, apposed: Token) -> bool:
        """Whether a parser took the second name of a list for an apposition."""
        first, second = self._references.name_at(token), self._references.name_at(apposed)
        if first is None or second is None or first.kind != second.kind or apposed.pos_ != "PROPN":
            return False
        return any(child.dep_ == "conj" for one in (token, apposed) for child in one.children)

    def _names(self, tokens: list[Token]) -> list[Name]:
        found = (self._references.name_at(token) for token in tokens if not is_denied(token))
        return list(dict.fromkeys(name for name in found if name is not None))

    def _targets(self, tokens: list[Token]) -> list[Name]:
        """Names; things told whose they are, "the firm's compiler team"; for "the board of Acme" Acme."""
        found: list[Name] = []
        for token in tokens:
            names = self._names([token])
            if not names and self._is_possession(token):
                names = [Name(_phrase(token), CONCEPT)]
            elif not names and token.lemma_.lower() in lexicon.GROUPS and not is_denied(token):
                names = self._holders(token)
            found += names
        return list(dict.fromkeys(found))

    def _holders(self, noun: Token) -> list[Name]:
        """Whose something is: "Acme's board", "the board of Acme"."""
        behind = [one for word, target in _prepositional(noun) if word == "of" for one in self._coordinated(target)]
        return self._owners(noun) or self._names(behind)

    def _is_possession(self, token: Token) -> bool:
        if token.pos_ != "NOUN" or token.tag_ != "NN" or token.lemma_.lower() in lexicon.ROLES or is_denied(token):
            return False
        if not any(child.dep_ == "compound" for child in token.children):
            return False
        return any(name.kind != PERSON for name in self._holders(token))


def _paired(sources: list[Name], relation: str, targets: list[Name]) -> Iterator[Relation]:
    for source in sources:
        for target in targets:
            yield Relation(source, relation, target)


def _subject_tokens(verb: Token) -> list[Token]:
    wanted = {"nsubjpass"} if _is_passive(verb) else _SUBJECTS
    return [child for child in verb.children if child.dep_ in wanted]


def _is_passive(verb: Token) -> bool:
    if any(child.dep_ in {"nsubjpass", "auxpass"} for child in verb.children):
        return True
    is_reduced = verb.dep_ in {"acl", "relcl", "advcl"} and verb.tag_ == "VBN"
    return is_reduced and not any(child.dep_ in {"aux", "nsubj", "dobj"} for child in verb.children)


def _prepositional(head: Token) -> Iterator[tuple[str, Token]]:
    """Prepositions below a word, each with what it leads to; those of time and reason are left out."""
    for child in head.children:
        if child.dep_ not in {"prep", "dative"} or child.lower_ in lexicon.TIMES or is_denied(child):
            continue
        for target in child.children:
            if target.dep_ == "pobj" and target.ent_type_ not in lexicon.NUMBERS:
                yield child.lower_, target


def _is_amount(token: Token) -> bool:
    return token.ent_type_ in lexicon.NUMBERS or any(child.dep_ == "nummod" for child in token.children)


def _lemma(verb: Token) -> str:
    lemma = verb.lemma_.lower()
    particle = next((child.lower_ for child in verb.children if child.dep_ == "prt"), None)
    word = lexicon.SPELLINGS.get(lemma, lemma)
    return f"{word}_{particle}" if particle else word


def _noun(noun: Token) -> str:
    before = [child.lower_ for child in noun.lefts if child.dep_ == "compound" and child.pos_ == "NOUN"]
    return "_".join([*before, noun.lemma_.lower()])


def _phrase(noun: Token) -> str:
    parts = [child for child in noun.lefts if child.dep_ == "compound"]
    return noun.doc[min([*(one.left_edge.i for one in parts), noun.i]) : noun.i + 1].text
