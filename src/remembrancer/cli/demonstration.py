"""`demo`: the shipped conversation goes into a real Neo4j, and questions about it are answered."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from remembrancer.cli.connection import Address, Server, memory_at, open_database
from remembrancer.cli.demo_findings import (
    BESIDE_TOKENS,
    EVIDENCE_TOKENS,
    NAMESPACE,
    Answer,
    Question,
    Understanding,
    answer,
    shipped_messages,
    shipped_questions,
    take_in,
)
from remembrancer.cli.demo_report import tell_answers, tell_understanding, tell_where_to_look
from remembrancer.cli.embedders import REMEDY, EmbedderName, embedder_to_write
from remembrancer.cli.exit_code import ExitCode
from remembrancer.cli.output import Output
from remembrancer.memory import Memory
from remembrancer.ports import Embedder
from remembrancer.providers.embedding import MissingPackageError
from remembrancer.server import default_path


async def demo(
    server: Server,
    output: Output,
    keep: Annotated[bool, typer.Option("--keep", help="Let the local server run on afterwards.")] = False,
) -> ExitCode:
    """Try it: eight weeks of a small team go into Neo4j, and the memory answers questions about them.

    Uses the local server unless --uri names another one (NEO4J_URI is not looked at), and the namespace
    remembrancer-demo, which is cleared first. Ends with 1 when the evidence for a question does not say what it has to.
    """
    # An address from the environment may be that of a server in earnest use; clearing something there must be meant.
    chosen = server if server.uri is not None else dataclasses.replace(server, path=server.path or default_path())
    output.note(f"connecting to {server.uri}" if server.uri is not None else "starting Neo4j, or joining it")
    async with chosen.reach(output, keep=keep) as address:
        embedder = await _real_embedder(address)
        output.text(
            f"Clearing namespace {NAMESPACE!r}, and nothing else; then reading {len(shipped_messages())} messages into "
            f"it, with vectors by {embedder.model}, made on this machine."
        )
        async with memory_at(address, namespace=NAMESPACE, embedder=embedder, migrate=True) as memory:
            await memory.clear()
            understood = await _take_in(memory, output)
            answers = [await _answer(memory, question) for question in shipped_questions()]
            today = await _today(memory, answers)
    tell_understanding(output, understood)
    tell_answers(output, answers, today=today)
    tell_where_to_look(output, address, keep=keep)
    output.document(_document(address, embedder, understood, answers))
    return ExitCode.FINE if all(one.is_right for one in answers) else ExitCode.FAILED


async def _real_embedder(address: Address) -> Embedder:
    async with open_database(address) as database:
        choice = await embedder_to_write(EmbedderName.AUTO, database, NAMESPACE)
    if choice.embedder is None:
        raise MissingPackageError("an embedding model that runs on this machine", remedy=REMEDY)
    return choice.embedder


async def _take_in(memory: Memory, output: Output) -> Understanding:
    with output.counting("Reading messages", total=len(shipped_messages())) as progress:
        return await take_in(memory, progress=progress)


async def _today(memory: Memory, answers: Sequence[Answer]) -> Answer:
    """The question about the past once more, asked at the end of the conversation."""
    past = next(one.question for one in answers if one.question.is_past)
    end = next(one.question.valid_at for one in answers if not one.question.is_past)
    now = dataclasses.replace(past, valid_at=end, key_words=past.not_yet, not_yet=())
    return await answer(memory, now, max_tokens=BESIDE_TOKENS)


async def _answer(memory: Memory, question: Question) -> Answer:
    return await answer(memory, question, max_tokens=BESIDE_TOKENS if question.is_past else EVIDENCE_TOKENS)


def _document(
    address: Address, embedder: Embedder, understood: Understanding, answers: Sequence[Answer]
) -> dict[str, Any]:
    server = address.server
    return {
        "namespace": NAMESPACE,
        "embedder": embedder.model,
        "messages": understood.messages,
        "seconds": round(understood.seconds, 1),
        "counts": dict(understood.counts),
        "episodes_by_conversation": dict(understood.episodes),
        "entities": [
            {
                "id": one.entity.id,
                "name": one.entity.name,
                "type": one.entity.entity_type,
                "relations": [
                    {"type": kind, "to": name, "since": since.isoformat()} for kind, name, since in one.relations
                ],
            }
            for one in understood.known
        ],
        "themes": [{"label": label, "facts": facts} for label, facts in understood.themes],
        "questions": [
            {
                "question": one.question.text,
                "valid_at": one.question.valid_at.isoformat(),
                "answer": one.question.answer,
                "key_words": list(one.question.key_words),
                "evidence": list(one.evidence),
                "missing": one.missing,
                "premature": one.premature,
                "is_right": one.is_right,
            }
            for one in answers
        ],
        "browser": None if server is None else server.browser_url,
        "credentials": None if server is None else str(server.path / "credentials.json"),
    }
