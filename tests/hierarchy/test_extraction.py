"""Extraction: sentences, names, verbs, and what facts, entities and relationships say of where they come from."""

from __future__ import annotations

import datetime as dt
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.hierarchy import RuleBasedExtractor, SimpleExtractor, split_sentences, verb_forms
from remembrancer.hierarchy.extraction.alphabet import every_script
from remembrancer.hierarchy.extraction.names import NameFinder
from remembrancer.hierarchy.extraction.verbs import BASE_VERBS
from remembrancer.ports import Extraction, Extractor
from remembrancer.records import Episode, InvalidInputError, Message, Provenance
from remembrancer.records.sentences import WHITE_SPACE

START = dt.datetime(2025, 1, 1, tzinfo=dt.UTC)
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def episode(*contents: str, topic: str = "") -> Episode:
    return Episode(
        id="d0000000-0000-4000-8000-000000000001",
        topic=topic,
        messages=[
            Message(role="user", content=content, timestamp=START + dt.timedelta(seconds=place))
            for place, content in enumerate(contents)
        ],
        started_at=START,
        ended_at=START,
        fact_ids=["f0000000-0000-4000-8000-000000000009"],
        provenance=Provenance(source="system", created_at=START),
    )


async def read(*contents: str, **options: Any) -> Extraction:
    return await RuleBasedExtractor(clock=lambda: NOW, **options).extract(episode(*contents))


def edges(extraction: Extraction) -> list[tuple[str, str, str]]:
    names = {entity.id: entity.name for entity in extraction.entities}
    return [(names[edge.source_id], edge.relation_type, names[edge.target_id]) for edge in extraction.relationships]


class TestSentences:
    @pytest.mark.parametrize(
        ("text", "sentences"),
        [
            ("", []),
            ("  \n ", []),
            ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
            ("Version 2.0 shipped.", ["Version 2.0 shipped."]),
            ("Wait... what?! Yes.", ["Wait...", "what?!", "Yes."]),
            ("Dr. Who and MRS. Who, e.g. now, vs. then.", ["Dr. Who and MRS. Who, e.g. now, vs. then."]),
            ("An alldr. ends.", ["An alldr.", "ends."]),
            ("No\u00a0break.\u3000Wide\ufeff.", ["No\u00a0break.", "Wide\ufeff."]),
            ("Not\u0085space.\u0085Same.", ["Not\u0085space.\u0085Same."]),
            ("良い会議でした。次は火曜日です。", ["良い会議でした。次は火曜日です。"]),
        ],
    )
    def test_a_sentence_ends_at_a_mark_before_white_space(self, text: str, sentences: list[str]) -> None:
        assert split_sentences(text) == sentences

    @pytest.mark.parametrize(
        ("text", "sentences"),
        [
            ("良い会議でした。次は火曜日です！本当？ Yes.", ["良い会議でした。", "次は火曜日です！", "本当？", "Yes."]),
            ("彼は「はい。」と言った。", ["彼は「はい。」", "と言った。"]),
            ("متى؟ الآن.", ["متى؟", "الآن."]),
            ("यह सही है। धन्यवाद।", ["यह सही है।", "धन्यवाद।"]),
        ],
    )
    def test_the_marks_of_other_scripts_count_on_request(self, text: str, sentences: list[str]) -> None:
        assert split_sentences(text, all_scripts=True) == sentences

    @given(st.text(alphabet="aD r.!?\n\u3000。」", max_size=30), st.booleans())
    def test_nothing_but_white_space_is_lost(self, text: str, all_scripts: bool) -> None:
        sentences = split_sentences(text, all_scripts=all_scripts)
        bare = re.compile(f"[{WHITE_SPACE}]")
        assert bare.sub("", "".join(sentences)) == bare.sub("", text)
        assert all(sentence == sentence.strip(WHITE_SPACE) != "" for sentence in sentences)


class TestNames:
    @pytest.mark.parametrize(
        "text", ["I met José Álvarez.", "then Élodie Durand spoke", "with Jose\u0301 A\u0301lvarez", "и Анна Каренина"]
    )
    def test_names_of_every_script_are_found_on_request(self, text: str) -> None:
        found = NameFinder(alphabet=every_script()).find(text)
        assert list(found.values()) == ["person"]
        assert next(iter(found)) in text

    def test_both_alphabets_agree_on_ascii(self) -> None:
        text = 'Today Bob Jones of Acme Corp met "Blue Door", @carol, loadConfig and NASA in Paris.'
        assert NameFinder(alphabet=every_script()).find(text) == NameFinder().find(text)

    def test_the_first_group_of_a_pattern_is_the_name_and_an_empty_one_is_none(self) -> None:
        assert NameFinder([r"#(\d*)"]).find("see #42 or #") == {"42": "concept", "#": "concept"}
        assert NameFinder([r"x*"]).find("ab") == {}

    @pytest.mark.parametrize(
        "text",
        [
            "Aa " * 20_000 + "Aa9",
            "'" * 50_001,
            '"' * 50_001,
            "a" * 100_000 + "9",
            "@" * 100_000,
            " " * 100_000 + "x",
            "Dr. " * 20_000,
        ],
        ids=["run", "quotes", "double", "word", "at", "space", "titles"],
    )
    async def test_no_text_takes_long(self, text: str) -> None:
        began = time.monotonic()
        await read(text, unicode_names=False)
        assert time.monotonic() - began < 5


class TestVerbs:
    def test_each_verb_has_four_forms_and_none_is_shared(self) -> None:
        assert len(verb_forms()) == 4 * len(BASE_VERBS)

    def test_a_later_verb_takes_over_a_form_in_its_place(self) -> None:
        forms = verb_forms(["Work_At"])
        assert list(forms) == list(verb_forms())
        assert forms["worked at"] == "Work_At"

    @pytest.mark.parametrize(
        ("verbs", "field"),
        [
            ([""], "relationship_verbs.0"),
            (["use", "_at"], "relationship_verbs.1"),
            ("use", "relationship_verbs"),
            (["x" * 1001], "relationship_verbs.0"),
            ([None], "relationship_verbs.0"),
        ],
    )
    def test_what_is_no_verb_is_named(self, verbs: Any, field: str) -> None:
        with pytest.raises(InvalidInputError) as caught:
            verb_forms(verbs)
        assert caught.value.field == field


class TestRules:
    async def test_facts_say_where_and_when_they_come_from(self) -> None:
        given_episode = episode("Alice Smith works at Acme Corp.", "Bob Jones never visits Acme Corp.")
        extraction = await RuleBasedExtractor(clock=lambda: NOW).extract(given_episode)
        for fact, message in zip(extraction.facts, given_episode.messages, strict=True):
            assert fact.content == message.content
            assert fact.source_message_ids == (message.id,)
            assert fact.source_episode_ids == (given_episode.id,)
            assert (fact.provenance.source, fact.provenance.created_at) == ("derived", NOW)
            assert (fact.valid_from, fact.valid_until, fact.tags) == (START, None, ())
        for entity in extraction.entities:
            assert entity.created_at == entity.updated_at == NOW
            assert entity.attributes == {}
        (edge,) = extraction.relationships
        assert (edge.weight, edge.attributes, edge.valid_from, edge.valid_until) == (1, {}, START, None)

    async def test_the_episode_is_copied_with_its_fact_ids_replaced(self) -> None:
        given_episode = episode("Alice Smith works at Acme Corp.")
        extraction = await RuleBasedExtractor().extract(given_episode)
        assert extraction.episode.fact_ids == tuple(fact.id for fact in extraction.facts)
        assert given_episode.fact_ids == ("f0000000-0000-4000-8000-000000000009",)

    async def test_a_sentence_is_measured_in_characters(self) -> None:
        assert len((await read("😀" * 20)).facts) == 1
        assert len((await read("😀" * 19)).facts) == 0

    async def test_a_curly_denial_counts_where_every_script_does(self) -> None:
        denied = "Now Carol White didn’t manage the Payments Team."
        assert edges(await read(denied, unicode_names=True)) == []

    async def test_accented_names_are_related_where_every_script_counts(self) -> None:
        extraction = await read("Today Élodie Durand manages José Álvarez in Málaga.", unicode_names=True)
        assert edges(extraction) == [("Today Élodie Durand", "manage", "José Álvarez")]

    async def test_letters_that_grow_in_lower_case_do_not_shift_what_lies_between(self) -> None:
        extraction = await read("İİİİİİİİİİİİ and Alice Smith manages Bob Jones.")
        assert edges(extraction) == [("Alice Smith", "manage", "Bob Jones")]

    @given(st.lists(st.text(alphabet="AaBb .!'\"@é😀\n", max_size=40), max_size=4), st.booleans())
    async def test_what_is_read_hangs_together(self, contents: list[str], unicode_names: bool) -> None:
        extraction = await read(*contents, min_sentence_length=1, unicode_names=unicode_names)
        entity_ids = [entity.id for entity in extraction.entities]
        assert len({entity.name for entity in extraction.entities}) == len(set(entity_ids)) == len(entity_ids)
        mentioned = list(dict.fromkeys(one for fact in extraction.facts for one in fact.entity_ids))
        assert mentioned == entity_ids
        messages = {message.id: message.content for message in extraction.episode.messages}
        for fact in extraction.facts:
            assert fact.content in messages[fact.source_message_ids[0]]
        assert {end for edge in extraction.relationships for end in (edge.source_id, edge.target_id)} <= set(entity_ids)

    @pytest.mark.parametrize(
        ("option", "value", "field"),
        [
            ("min_sentence_length", -1, "min_sentence_length"),
            ("min_sentence_length", 1.5, "min_sentence_length"),
            ("min_sentence_length", True, "min_sentence_length"),
            ("entity_patterns", "abc", "entity_patterns"),
            ("entity_patterns", re.compile("a"), "entity_patterns"),
            ("entity_patterns", ["a", "("], "entity_patterns.1"),
            ("entity_patterns", [re.compile(b"a")], "entity_patterns.0"),
            ("entity_patterns", [5], "entity_patterns.0"),
            ("relationship_verbs", "use", "relationship_verbs"),
            ("unicode_names", 1, "unicode_names"),
        ],
    )
    def test_a_wrong_option_is_named(self, option: str, value: Any, field: str) -> None:
        with pytest.raises(InvalidInputError) as caught:
            RuleBasedExtractor(**{option: value})
        assert caught.value.field == field


class TestSimple:
    async def test_the_topic_is_the_fact_and_no_topic_is_none(self) -> None:
        extraction = await SimpleExtractor().extract(episode("Anything.", topic=" Work "))
        assert [fact.content for fact in extraction.facts] == [" Work "]
        assert (await SimpleExtractor().extract(episode("Anything."))).episode.fact_ids == ()


@pytest.mark.parametrize("extractor", [SimpleExtractor(), RuleBasedExtractor()])
async def test_only_episodes_are_read(extractor: Extractor) -> None:
    assert isinstance(extractor, Extractor)
    wrong: Any = {"id": "x"}
    with pytest.raises(InvalidInputError, match="episode: expected Episode"):
        await extractor.extract(wrong)
