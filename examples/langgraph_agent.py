"""A LangGraph agent with the tools of a game world.

    python examples/langgraph_agent.py --party lanternbearers "Who runs the ferries?"

Needs an OpenAI-compatible server (OPENAI_BASE_URL, OPENAI_API_KEY, MODEL), MEMORY37_URL and
MEMORY37_API_KEY. `world_tools` is all that another LangGraph or LangChain program needs.
"""

import argparse
import asyncio
import os
from typing import Any

from langchain_core.messages import SystemMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from memory37_client import Memory37Client

RULES = """You are the game master of a tabletop world. Look up what you state with the tools; what
they do not show, you do not know."""


async def world_tools(
    memory: Memory37Client, *, profile: str = "scene", audience: str = "public"
) -> list[StructuredTool]:
    """Return the tools of a profile; what they show is what `audience` may know."""
    schemas = await memory.openai_tools(profile, form="chat")
    return [world_tool(memory, schema["function"], audience) for schema in schemas]


def world_tool(memory: Memory37Client, function: dict[str, Any], audience: str) -> StructuredTool:
    name = function["name"]

    async def call(**arguments: Any) -> str:
        return await memory.answer_tool_call(name, arguments, as_=audience)

    return StructuredTool(
        name=name,
        description=function["description"],
        args_schema=function["parameters"],
        coroutine=call,
    )


def build_graph(model: Any, tools: list[StructuredTool]) -> Any:
    """Return the graph: the model, its tool calls, and back until it calls none."""
    bound = model.bind_tools(tools)

    async def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await bound.ainvoke([SystemMessage(RULES), *state["messages"]])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    return graph.compile()


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", help="What the players say or ask.")
    parser.add_argument("--party", default="", help="Whose knowledge is used; default: public.")
    options = parser.parse_args()
    audience = f"party:{options.party}" if options.party else "public"
    async with Memory37Client.from_env() as memory:
        tools = await world_tools(memory, audience=audience)
        graph = build_graph(ChatOpenAI(model=os.environ.get("MODEL", "gpt-4.1-mini")), tools)
        state = await graph.ainvoke({"messages": [("user", options.text)]})
    print(state["messages"][-1].content)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main())
