"""The demo, told to a reader."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from remembrancer.cli.connection import Address
from remembrancer.cli.demo_findings import NAMESPACE, Answer, Known, Understanding
from remembrancer.cli.output import Output, printable
from remembrancer.server import default_path

_KNOWN = 8
_THEMES = 3
_KINDS = ("message", "episode", "fact", "theme", "entity", "relationship")


def tell_understanding(output: Output, found: Understanding) -> None:
    """How much was made of the conversation, who is in it, what it is about."""
    counts = ", ".join(f"{found.counts.get(kind, 0)} {_plural(kind)}" for kind in _KINDS)
    episodes = ", ".join(f"{name} {number}" for name, number in sorted(found.episodes.items()))
    output.heading(f"What was understood, in {found.seconds:.0f} s")
    output.text(counts, f"Episodes by conversation: {episodes}")
    output.heading("People and organisations")
    for one in found.known[:_KNOWN]:
        output.text(Text.assemble((f"  {one.entity.name}", "bold"), f" ({one.entity.entity_type}) {_relations(one)}"))
    if len(found.known) > _KNOWN:
        output.text(f"  and {', '.join(one.entity.name for one in found.known[_KNOWN:])}")
    output.heading("Largest themes")
    output.text(*(f"  {facts:>3} facts  {_short(label)}" for label, facts in found.themes[:_THEMES]))


def tell_answers(output: Output, answers: Sequence[Answer], *, today: Answer) -> None:
    """The questions about today with their evidence, then the one about the past beside today's.

    Args:
        output: Where to.
        answers: All of them.
        today: The answer of today to the question that was asked of the past.
    """
    for one in (one for one in answers if not one.question.is_past):
        output.text("", _verdict(one), *(_marked(line, one) for line in one.evidence))
    for one in (one for one in answers if one.question.is_past):
        output.text("", _verdict(one))
        output.table(
            f"as of {one.question.valid_at:%d %B %Y}",
            f"as of {today.question.valid_at:%d %B %Y}",
            rows=[[_evidence(one), _evidence(today)]],
        )


def tell_where_to_look(output: Output, address: Address, *, keep: bool) -> None:
    """How to look at it in Neo4j Browser."""
    output.heading("See it in Neo4j Browser")
    server = address.server
    if server is None:
        output.text(f"Connect to {address.uri}; all nodes of the demo have the namespace {NAMESPACE!r}.")
        return
    folder = "" if server.path == default_path() else f" --path {server.path}"
    if keep:
        output.text(f"The server runs on, until: remembrancer down{folder}")
    else:
        output.text(f"The server stops when nobody uses it. To keep it running: remembrancer up{folder}")
    output.text(
        f"To open Browser: remembrancer browser{folder}",
        f"That is {server.browser_url}",
        f"User {server.username}; the password is in {server.path / 'credentials.json'}",
        "The saved queries (star on the left) draw the memory, also as it was on an earlier day.",
    )


def _relations(one: Known) -> str:
    return ", ".join(f"{kind.replace('_', ' ')} {name} ({since.day} {since:%b})" for kind, name, since in one.relations)


def _evidence(answer: Answer) -> Text:
    return Text("\n").join([_marked(line, answer) for line in answer.evidence])


def _marked(line: str, answer: Answer) -> Text:
    text = printable(line)
    text.highlight_words(answer.question.key_words, "bold green", case_sensitive=False)
    text.highlight_words(answer.question.not_yet, "bold red", case_sensitive=False)
    return text


def _verdict(answer: Answer) -> Text:
    question = (f"{answer.question.text}  ", "bold")
    if answer.is_right:
        return Text.assemble(question, ("✓ ", "bold green"), ", ".join(answer.question.key_words))
    problems = [f"does not say {word}" for word in answer.missing]
    problems += [f"says {word}, which came later" for word in answer.premature]
    return Text.assemble(question, ("✗ ", "bold red"), ", ".join(problems))


def _plural(kind: str) -> str:
    return "entities" if kind == "entity" else f"{kind}s"


def _short(label: str, *, most: int = 60) -> str:
    return label if len(label) <= most else f"{label[: most - 1]}…"
