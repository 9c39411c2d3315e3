"""A LlamaIndex retriever over the lore and the rules of a game world.

    python examples/llamaindex_retriever.py --party lanternbearers "Who runs the ferries?"

Needs MEMORY37_URL and MEMORY37_API_KEY. `WorldRetriever` fits wherever LlamaIndex takes a
retriever, as in `RetrieverQueryEngine.from_args(WorldRetriever(memory), llm=…)`.
"""

import argparse

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from memory37_client import SyncMemory37Client


class WorldRetriever(BaseRetriever):
    """Lore and rules that answer a question, best first; `score` is the calibrated relevance, so
    hits of both can be compared. What `audience` may not know does not exist for it."""

    def __init__(
        self,
        memory: SyncMemory37Client,
        *,
        audience: str = "public",
        hits: int = 5,
        least: float = 0.1,
    ) -> None:
        self._memory, self._audience, self._hits, self._least = memory, audience, hits, least
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        question = query_bundle.query_str
        more = {"k": self._hits, "least": self._least, "as_": self._audience}
        lore = self._memory.lore_search(question, **more)
        rules = self._memory.rules_lookup(question, **more)
        nodes = [node_of(hit) for answer in (lore, rules) for hit in answer.hits]
        return sorted(nodes, key=lambda node: node.score or 0.0, reverse=True)[: self._hits]


def node_of(hit) -> NodeWithScore:
    metadata = {"title": hit.title, "kind": hit.kind, "id": hit.id}
    return NodeWithScore(
        node=TextNode(id_=hit.id, text=hit.text, metadata=metadata), score=hit.relevance
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("question")
    parser.add_argument("--party", default="", help="Whose knowledge is used; default: public.")
    options = parser.parse_args()
    audience = f"party:{options.party}" if options.party else "public"
    with SyncMemory37Client.from_env() as memory:
        for node in WorldRetriever(memory, audience=audience).retrieve(options.question):
            print(f"{node.score:.2f}  {node.metadata['title']}: {node.text[:200]}")  # noqa: T201


if __name__ == "__main__":
    main()
