"""Verbs that relate one entity to another, and the forms in which a text may have them.

Inflection is regular: no irregular forms and no doubled consonants. It acts on the first word, so that `work_at` is
found as "works at". The order counts: of two forms between the same names the one that stands earlier here is taken.
"""

from __future__ import annotations

from collections.abc import Iterable

from remembrancer.records import InvalidInputError
from remembrancer.records.key import require_keys

# "found" is left out on purpose: it would match the past of "find".
_VERBS = """
    work_at report_to manage lead create author own use depend_on contain belong_to collaborate_with review approve
    deploy test maintain support block require acquire appoint replace succeed fund sponsor open sign chair join hire
    launch publish serve advise invest_in partner_with
"""
BASE_VERBS = tuple(_VERBS.split())


def verb_forms(extra: Iterable[str] = ()) -> dict[str, str]:
    """Each recognised form, in lower case, with its base verb; in order of priority.

    Args:
        extra: Further base verbs, spelled as they shall be reported, words joined by underscores. Where one has a form
            of an earlier verb, it takes that form over in its place.

    Raises:
        InvalidInputError: Not a list of verbs, a verb that begins with an underscore, is empty, or is too long to be
            a relation type; names `relationship_verbs` and the place.
    """
    verbs = require_keys(extra, field="relationship_verbs")
    for place, verb in enumerate(verbs):
        if verb.startswith("_"):
            raise InvalidInputError(f"relationship_verbs.{place}", "a verb begins with a word, not with an underscore")
    return {form: verb for verb in (*BASE_VERBS, *verbs) for form in _inflected(verb)}


def _inflected(verb: str) -> list[str]:
    head, underscore, rest = verb.lower().partition("_")
    if head.endswith("e"):
        heads = [head, head + "s", head + "d", head[:-1] + "ing"]
    elif head.endswith("y") and len(head) > 1 and head[-2] not in "aeiou":
        heads = [head, head[:-1] + "ies", head[:-1] + "ied", head + "ing"]
    else:
        heads = [head, head + "s", head + "ed", head + "ing"]
    tail = " " + rest.replace("_", " ") if underscore else ""
    return [form + tail for form in heads]
