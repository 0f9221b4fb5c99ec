"""The options that say what reads facts from messages: rules, a spaCy pipeline, or a language model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

import typer

from remembrancer.cli.language_model import ModelAccess
from remembrancer.cli.output import Output
from remembrancer.hierarchy import LLMExtractor, RuleBasedExtractor, SimpleExtractor
from remembrancer.hierarchy.extraction.spacy import SpacyExtractor, load_pipeline
from remembrancer.ports import Extractor, LanguageModel
from remembrancer.records import InvalidInputError

RULES = "rules"
SIMPLE = "simple"
LLM = "llm"
SPACY = "spacy:"
PANEL = "What reads facts"


@dataclass(frozen=True)
class Reader:
    """What reads facts, made.

    Attributes:
        name: As it was asked for.
        extractor: It.
        llm: The language model behind it, which names themes too; `None`: there is none.
    """

    name: str
    extractor: Extractor
    llm: LanguageModel | None = None


@dataclass(frozen=True)
class Extracting:
    """The options that say what reads facts. Keys of models come from the environment, never from the command line."""

    extractor: Annotated[
        str | None,
        typer.Option(
            "--extractor",
            metavar="NAME",
            help="rules, simple (an episode's topic), llm, or spacy:NAME with the name of an installed spaCy pipeline "
            "or the path of its folder. By default llm when a model is named.",
            rich_help_panel=PANEL,
        ),
    ] = None
    llm_model: Annotated[
        str | None,
        typer.Option(
            "--llm-model",
            envvar="REMEMBRANCER_LLM_MODEL",
            help="A language model behind OpenAI's interface. It names themes too. Its key is read from "
            "REMEMBRANCER_LLM_API_KEY.",
            rich_help_panel=PANEL,
        ),
    ] = None
    llm_url: Annotated[
        str | None,
        typer.Option(
            "--llm-url",
            envvar="REMEMBRANCER_LLM_URL",
            help="Its address, up to /v1. Left out: OPENAI_BASE_URL, else OpenAI, with OPENAI_API_KEY when there is no "
            "other key.",
            rich_help_panel=PANEL,
        ),
    ] = None
    llm_timeout: Annotated[
        float,
        typer.Option("--llm-timeout", min=0.001, help="Seconds that one episode may take.", rich_help_panel=PANEL),
    ] = 30
    llm_calls: Annotated[
        int | None,
        typer.Option(
            "--llm-calls",
            min=0,
            help="The most calls, repeated ones included, beside the question at the start. Then rules.",
            rich_help_panel=PANEL,
        ),
    ] = None
    llm_tokens: Annotated[
        int | None,
        typer.Option("--llm-tokens", min=0, help="The most tokens, sent and received.", rich_help_panel=PANEL),
    ] = None

    @property
    def name(self) -> str | None:
        """What reads; `None`: nothing was said."""
        return self.extractor or (LLM if self.llm_model is not None else None)

    @asynccontextmanager
    async def opened(self, output: Output) -> AsyncIterator[Reader]:
        """What was asked for, by default rules; its connections are closed at the end.

        A language model is asked a word first, so that a key that it refuses is told before anything is written. One
        that does not answer now may do so later: that is said, and is no error.

        Raises:
            InvalidInputError: There is no such extractor, or no model is named, or not with a name or an address.
            ModelAccessError: The server refuses the key, or knows no such model.
            MissingPackageError: spaCy or the pipeline is not installed.
        """
        if self.name is None and self.llm_url:
            raise InvalidInputError(
                "--llm-model",
                f"say which model at {self.llm_url} is to read, or --extractor {RULES}, which needs none",
            )
        name = self.name or RULES
        if name == LLM:
            access = ModelAccess.of(self.llm_model, url=self.llm_url, timeout_s=self.llm_timeout)
            with access.named():
                model = access.chat(calls=self.llm_calls, tokens=self.llm_tokens)
                extractor = LLMExtractor(model, timeout_ms=self.llm_timeout * 1000)
                await access.try_out(output, calls=self.llm_calls, tokens=self.llm_tokens)
            async with model:
                yield Reader(f"{LLM}:{model.model}", extractor, model)
        elif name in (RULES, SIMPLE):
            yield Reader(name, RuleBasedExtractor() if name == RULES else SimpleExtractor())
        elif name.startswith(SPACY) and name != SPACY:
            yield Reader(name, SpacyExtractor(load_pipeline(name.removeprefix(SPACY))))
        else:
            raise InvalidInputError("--extractor", f"expected {RULES}, {SIMPLE}, {LLM} or {SPACY}NAME, got {name!r}")
