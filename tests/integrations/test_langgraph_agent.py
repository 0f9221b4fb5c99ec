"""An agent of LangGraph with a scripted model: what it is told in one thread it knows in others and after a restart."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from pydantic import Field

from remembrancer import Memory, SyncMemory
from remembrancer.integrations.langgraph import RemembrancerStore
from remembrancer.providers.embedding import HashingEmbedder

pytestmark = pytest.mark.neo4j

Connection = tuple[str, tuple[str, str]]


class ScriptedModel(BaseChatModel):
    """Gives its answers one after the other, and keeps what it was asked."""

    answers: list[str]
    asked: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.asked.append(messages)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.answers[len(self.asked) - 1]))])


@dataclass
class Context:
    user: str


def agent(model: ScriptedModel, store: RemembrancerStore) -> Any:
    """Answers with what it remembers of the user, then remembers what the user said."""

    async def respond(state: MessagesState, runtime: Runtime[Context]) -> dict[str, Sequence[AnyMessage]]:
        assert runtime.store is not None
        question = str(state["messages"][-1].content)
        known = await runtime.store.asearch(("users", runtime.context.user), query=question, limit=3)
        facts = "\n".join(item.value["text"] for item in known)
        answer = await model.ainvoke([SystemMessage(f"You know:\n{facts}"), *state["messages"]])
        return {"messages": [answer]}

    async def remember(state: MessagesState, runtime: Runtime[Context]) -> dict[str, Any]:
        assert runtime.store is not None
        said = str(state["messages"][-2].content)
        await runtime.store.aput(("users", runtime.context.user), str(uuid.uuid4()), {"text": said})
        return {}

    graph = StateGraph(MessagesState, context_schema=Context)
    graph.add_node("respond", respond)
    graph.add_node("remember", remember)
    graph.add_edge(START, "respond")
    graph.add_edge("respond", "remember")
    graph.add_edge("remember", END)
    return graph.compile(checkpointer=InMemorySaver(), store=store)


async def say(graph: Any, text: str, *, thread: str, user: str = "ada") -> str:
    config = {"configurable": {"thread_id": thread}}
    state = await graph.ainvoke({"messages": [HumanMessage(text)]}, config, context=Context(user))
    return str(state["messages"][-1].content)


@asynccontextmanager
async def opened(connection: Connection, namespace: str) -> AsyncIterator[RemembrancerStore]:
    uri, auth = connection
    async with Memory.connect(uri, auth=auth, namespace=namespace, embedder=HashingEmbedder()) as memory:
        yield RemembrancerStore(memory, fields=["text"])


async def test_it_remembers_across_threads_and_restarts(neo4j_server: Connection) -> None:
    namespace = f"test-{uuid.uuid4()}"
    model = ScriptedModel(answers=["Noted.", "Oat milk.", "Oat milk still.", "I do not know."])
    async with opened(neo4j_server, namespace) as store:
        graph = agent(model, store)
        await say(graph, "I take my coffee with oat milk.", thread="monday")
        assert await say(graph, "How do I take my coffee?", thread="tuesday") == "Oat milk."
        assert "I take my coffee with oat milk." in model.asked[1][0].text
    async with opened(neo4j_server, namespace) as store:
        graph = agent(model, store)
        await say(graph, "And my coffee today?", thread="wednesday")
        assert "I take my coffee with oat milk." in model.asked[2][0].text
        await say(graph, "How do I take my coffee?", thread="thursday", user="bo")
        assert model.asked[3][0].text == "You know:\n"


async def test_nodes_that_are_plain_functions_may_use_it(neo4j_server: Connection) -> None:
    def note(state: MessagesState, runtime: Runtime[Context]) -> dict[str, Any]:
        assert runtime.store is not None
        runtime.store.put(("users", runtime.context.user), "last", {"text": str(state["messages"][-1].content)})
        return {}

    graph = StateGraph(MessagesState, context_schema=Context)
    graph.add_node("note", note)
    graph.add_edge(START, "note")
    async with opened(neo4j_server, f"test-{uuid.uuid4()}") as store:
        await graph.compile(store=store).ainvoke({"messages": [HumanMessage("Hello.")]}, context=Context("ada"))
        item = await store.aget(("users", "ada"), "last")
        assert item is not None
        assert item.value == {"text": "Hello."}


async def test_a_blocking_program_may_use_it(neo4j_server: Connection) -> None:
    def run() -> list[str]:
        uri, auth = neo4j_server
        with SyncMemory.connect(uri, auth=auth, namespace=f"test-{uuid.uuid4()}", embedder=HashingEmbedder()) as memory:
            store = RemembrancerStore(memory)
            store.put(("users", "ada"), "k", {"text": "tea"})
            return [item.key for item in store.search(("users",), query="tea")]

    assert await asyncio.to_thread(run) == ["k"]
