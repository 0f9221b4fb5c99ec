"""Whether a clause tells that something is so: not denied, not merely possible, asked, planned or conditional."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from remembrancer.hierarchy.extraction.parsed import lexicon

if TYPE_CHECKING:
    from spacy.tokens import Token

_COMPLEMENTS = frozenset("ccomp xcomp pcomp csubj dobj acomp oprd acl".split())  # noqa: SIM905 - labels


def is_told(predicate: Token) -> bool:
    """Whether the text tells that what this verb, or noun of an event, says is so now or was so."""
    if _is_question(predicate) or _is_open(predicate):
        return False
    clause = predicate
    for above in predicate.ancestors:
        if (clause.dep_ in _COMPLEMENTS or _is_gerund(clause)) and _leaves_open(above, clause):
            return False
        if clause.dep_ in {"conj", "xcomp"} and clause.pos_ in {"VERB", "AUX"} and _shares_auxiliary(clause, above):
            return False
        clause = above
    return True


def _is_gerund(clause: Token) -> bool:
    """Whether a parser may have taken a complement for an adverb: "ruled out buying"."""
    return (
        clause.dep_ == "advcl"
        and clause.tag_ == "VBG"
        and not any(child.dep_ in {"nsubj", "nsubjpass", "mark"} for child in clause.children)
    )


def _leaves_open(above: Token, clause: Token) -> bool:
    """Whether what governs a clause says that it is not, or need not be, so."""
    if above.pos_ in {"ADP", "SCONJ"}:
        # "Ruled out buying", "thinks about joining", "instead of hiring".
        words = {above.head.lemma_.lower(), f"{above.head.lemma_.lower()}_{above.lower_}"}
        return bool(words & (lexicon.DOUBTING | lexicon.DOUBTFUL | lexicon.SPEECH)) or above.lower_ in lexicon.INSTEAD
    if clause.dep_ == "acl" and clause.tag_ in {"VBN", "VBG"}:
        return False  # a participle only describes its noun
    if above.pos_ in {"NOUN", "PROPN"} and _has_no(above):
        return True
    particle = next((f"_{child.lower_}" for child in above.children if child.dep_ == "prt"), "")
    if _is_open(above) or above.lemma_.lower() + particle in lexicon.DOUBTING:
        return True
    if above.lemma_.lower() in lexicon.DOUBTFUL:
        return True
    return any(child.dep_ in {"acomp", "attr"} and child.lemma_.lower() in lexicon.DOUBTFUL for child in above.children)


def is_denied(token: Token) -> bool:
    """Whether a word right at the token denies it: "no", "never", "neither", "no longer"."""
    return any(_denies(child) for child in token.children)


def _denies(child: Token) -> bool:
    if child.dep_ == "neg" or child.lower_ in lexicon.DENIALS:
        return True
    if child.dep_ in {"advmod", "npadvmod"}:
        return any(one.dep_ == "neg" or one.lower_ in lexicon.DENIALS for one in child.children)
    return False


def _is_open(predicate: Token) -> bool:
    if is_denied(predicate):
        return True
    for child in predicate.children:
        word = child.lower_
        if child.dep_ in {"aux", "auxpass"} and word in lexicon.UNCERTAIN and _is_modal(child):
            return True
        if child.dep_ in {"mark", "advmod"} and word in lexicon.CONDITIONS | lexicon.HEDGES:
            return True
        if child.dep_ in {"nsubj", "nsubjpass", "dobj", "attr", "agent"} and _has_no(child):
            return True
    return any(_is_without(one) for one in [predicate, *predicate.ancestors]) or _is_used_to(predicate)


def _is_modal(auxiliary: Token) -> bool:
    # "'d" is "had" as often as "would"; the tag tells.
    return auxiliary.tag_ == "MD" or auxiliary.lower_ in {"will", "would"}


def _has_no(argument: Token) -> bool:
    return argument.lower_ in {"nobody", "nothing", "none", "no-one"} or any(
        child.lower_ in lexicon.DENIALS for child in argument.children
    )


def _is_without(token: Token) -> bool:
    return token.dep_ == "pcomp" and token.head.lower_ == "without"


def _is_used_to(predicate: Token) -> bool:
    """ "Used to" tells of what is over."""
    above = predicate.head
    return predicate.dep_ == "xcomp" and above.lemma_ == "use" and above.lower_ == "used"


def _shares_auxiliary(clause: Token, above: Token) -> bool:
    """Of "may buy and merge" both are only possible, unless the second has a subject or auxiliary of its own."""
    own = {"nsubj", "nsubjpass", "aux"}
    if clause.dep_ != "conj" or any(child.dep_ in own for child in clause.children):
        return clause.dep_ == "xcomp" and _is_open(above)
    return _is_open(above)


def _is_question(predicate: Token) -> bool:
    for token in _end_of(predicate):
        if token.is_punct:
            if token.text.startswith("?"):
                return True
            continue
        return False
    return False


def _end_of(predicate: Token) -> Iterator[Token]:
    sentence = predicate.sent
    yield from reversed(list(sentence))
