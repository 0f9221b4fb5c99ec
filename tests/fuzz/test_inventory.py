"""The list of everything that parses data from outside; a module that parses and is not in it fails the test.

A new parser is written down here with the module of this folder that tries it, or with the reason why what it reads
comes from the library itself.
"""

from __future__ import annotations

import ast
from pathlib import Path

import remembrancer

SOURCE = Path(remembrancer.__file__).parent

PARSERS = {
    "bench.document": "test_server_files",
    "cli.connection": "test_command_lines",
    "cli.embedders": "test_model_servers",
    "cli.extractors": "test_model_servers",
    "cli.language_model": "test_model_servers",
    "cli.gate_simulation": "test_command_lines",
    "cli.gating": "test_command_lines",
    "cli.message_file": "test_message_files",
    "hierarchy.clustering.naming": "test_model_replies",
    "hierarchy.exports.archive": "test_message_files",
    "hierarchy.exports.gemini": "test_chat_exports",
    "hierarchy.extraction.llm_answer": "test_model_replies",
    "hierarchy.ingestion.incoming": "test_message_files",
    "integrations.filters": "test_agent_calls",
    "integrations.langgraph": "test_agent_calls",
    "lifecycle.fact_writer": "test_agent_calls",
    "lifecycle.foreign_reading": "test_foreign_dumps",
    "lifecycle.foreign_records": "test_foreign_dumps",
    "lifecycle.transfer_lines": "test_own_exports",
    "memory.memory": "test_command_lines",
    "ports.arguments": "test_agent_calls",
    "ports.ledger_arguments": "test_agent_calls",
    "ports.requests": "test_agent_calls",
    "ports.tracing": "test_server_files",
    "providers.openai.chat": "test_model_servers",
    "providers.openai.embedder": "test_model_servers",
    "providers.openai.endpoint": "test_model_servers",
    "providers.openai.spoken_json": "test_model_replies",
    "records.base": "test_own_exports",
    "records.instant": "test_questions",
    "records.json_text": "test_message_files",
    "records.statement": "test_own_exports",
    "retrieval.recall.dates": "test_questions",
    "server.archive": "test_server_files",
    "server.artifact": "test_server_files",
    "server.backup": "test_server_files",
    "server.control": "test_server_files",
    "server.folder": "test_server_files",
    "server.java": "test_server_files",
    "server.kit_server": "test_server_files",
    "server.settings": "test_server_files",
    "server.unfinished": "test_server_files",
    "tiers.memory": "test_agent_calls",
}
"""Modules that parse what comes from outside, and where that is fuzzed."""

OUR_OWN = {
    "demo.__init__": "files of this package",
    "cli.demo_findings": "files of this package",
    "cli.demonstration": "whether NEO4J_URI is set",
    "cli.local_server": "whether NEO4J_URI is set",
    "cli.output": "whether COLUMNS is set",
    "graph.connection": "the version that Neo4j tells",
    "graph.erasing": "rows of our own statements",
    "graph.inspection": "rows of our own statements, whose damage it tells",
    "graph.ledger": "rows of our own statements",
    "graph.listed": "rows of our own statements",
    "graph.migrations": "names of files of this package",
    "graph.records": "rows of our own statements",
    "graph.serving": "rows of our own statements",
    "graph.trail": "rows of our own statements",
    "graph.transfer": "rows of our own statements",
    "graph.values": "JSON that we stored",
    "graph.writing": "rows of our own statements",
    "lifecycle.images": "images of records that we stored",
    "ports.reembedding": "images of records that we stored",
    "providers.embedding.minilm": "a vocabulary that has to have one digest; any error is told as that",
    "retention.simulator": "lessons of a scenario, by a caller in Python",
    "server._kit": "writes an archive",
    "server._supervisor": "the plan of the process that starts it, and strangers, of whom it lets go",
    "server.distribution": "folders and addresses that are only looked up",
    "testing.contract.planning": "records of tests",
    "testing.tier_contract": "records of tests",
}
"""Modules that parse what the library wrote itself, or what only picks among what is known."""

_CALLS = frozenset(
    {"loads", "raw_decode", "JSONDecoder", "read_json", "model_validate", "model_validate_json", "fromisoformat",
    "literal_eval",
     "parsedate_to_datetime", "ZipFile", "TarFile", "UUID", "strptime", "DictReader"}
)  # fmt: skip
_OWNERS_OF_OPEN = frozenset({"tarfile", "zipfile"})


def _parses(module: Path) -> bool:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    # A number that is made where that may fail is made of something that others wrote.
    tried = {
        id(one) for node in ast.walk(tree) if isinstance(node, ast.Try) for held in node.body for one in ast.walk(held)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="open")) if owner in _OWNERS_OF_OPEN:
                return True
            case ast.Call(func=ast.Attribute(attr=name)) if name in _CALLS:
                return True
            case ast.Call(func=ast.Name(id="float" | "int"), args=[_]) if id(node) in tried:
                return True
            case ast.Attribute(value=ast.Name(id="os"), attr="environ"):
                return True
            case ast.ClassDef(bases=[ast.Name(id="HTMLParser")]):
                return True
    return False


def test_each_module_that_parses_is_written_down() -> None:
    found = {
        ".".join(module.relative_to(SOURCE).with_suffix("").parts) for module in SOURCE.rglob("*.py") if _parses(module)
    }
    known = PARSERS.keys() | OUR_OWN.keys()
    assert not found - known, f"write down who tries them: {sorted(found - known)}"
    assert not PARSERS.keys() & OUR_OWN.keys()
    assert all((SOURCE / f"{name.replace('.', '/')}.py").exists() for name in known)


def test_each_fuzzed_module_is_named_where_it_is_tried() -> None:
    for module in set(PARSERS.values()):
        assert (Path(__file__).parent / f"{module}.py").exists()
