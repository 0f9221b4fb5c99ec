"""`recall`: a question in one's own words, answered with evidence."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from remembrancer.cli.connection import NAMESPACE, EmbedderOption, NamespaceOption, Server, open_memory
from remembrancer.cli.embedders import EmbedderName
from remembrancer.cli.output import Output, moment, printable
from remembrancer.records import InvalidInputError
from remembrancer.records.instant import require_instant
from remembrancer.retrieval.recall import LeftOut, Recall, RecallHit

_BECAUSE = {
    "nothing asked": "the text is empty.",
    "nothing stored": "the namespace holds no messages and no facts.",
    "nothing held then": "what was found did not hold at that instant; --include-invalidated shows closed facts.",
    "nothing similar": "nothing that is stored speaks to it.",
}


async def recall(
    server: Server,
    output: Output,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to look for, in your own words.")],
    namespace: NamespaceOption = NAMESPACE,
    embedder: EmbedderOption = EmbedderName.AUTO,
    limit: Annotated[int, typer.Option("--limit", help="The most hits, 1 to 1,000.")] = 20,
    valid_at: Annotated[
        str | None,
        typer.Option(
            "--valid-at", help="What held at this instant: ISO 8601, UTC when it says no zone. Now if left out."
        ),
    ] = None,
    believed_at: Annotated[
        str | None, typer.Option("--believed-at", help="Only what had been recorded by this instant.")
    ] = None,
    include_invalidated: Annotated[bool, typer.Option("--include-invalidated", help="Closed facts too.")] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="Print the evidence as text for a model.")] = False,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", help="The most tokens of that text.")] = None,
) -> None:
    """Find what speaks to a question, best evidence first, with the reasons why it was found."""
    if max_tokens is not None and not prompt:
        raise InvalidInputError("--max-tokens", "bounds the text of --prompt, which is not asked for")
    if max_tokens is not None and max_tokens < 1:
        raise InvalidInputError("--max-tokens", f"expected a positive number, got {max_tokens}")
    held = None if valid_at is None else require_instant(valid_at, field="--valid-at")
    believed = None if believed_at is None else require_instant(believed_at, field="--believed-at")
    async with open_memory(server, output, namespace=namespace, embedder=embedder) as memory:
        found = await memory.recall(
            text, limit=limit, valid_at=held, believed_at=believed, include_invalidated=include_invalidated
        )
    answer = {"namespace": namespace, **found.to_dict()}
    if prompt:
        rendered = found.to_prompt(max_tokens=max_tokens)
        output.text(rendered)
        output.document({**answer, "prompt": rendered})
        _tell_why_empty(output, found, aloud=False)
        return
    output.document(answer)
    if found.hits:
        output.table("when", "who", "what and why", "score", rows=[_row(hit) for hit in found.hits], numbers=["score"])
    _tell_why_empty(output, found, aloud=True)
    _tell_left_out(output, found.left_out)


def _row(hit: RecallHit) -> list[str | Text]:
    why = ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items())
    what = Text.assemble(printable(hit.text), "\n", (f"{why}\n{hit.kind} {hit.id}", "dim"))
    return [moment(hit.at), hit.speaker or "", what, f"{hit.score:.2f}"]


def _tell_why_empty(output: Output, found: Recall, *, aloud: bool) -> None:
    if found.empty_because is not None:
        (output.text if aloud else output.note)(f"Nothing found: {_BECAUSE[found.empty_because]}")


def _tell_left_out(output: Output, left_out: LeftOut) -> None:
    told = [
        (left_out.below_limit, "below the limit"),
        (left_out.superseded, "closed facts"),
        (left_out.repeated, "repetitions"),
        (left_out.words, "words of the question, which has too many"),
    ]
    parts = [f"{number} {what}" for number, what in told if number]
    if parts:
        output.text("", f"Left out: {', '.join(parts)}.")
