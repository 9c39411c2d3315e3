"""How each domain of knowledge is stored, embedded and searched, as the Memory37 design writes it:
the presets and the embedder of the settings as one value."""

from dataclasses import dataclass
from typing import Literal, get_args

from retrieval.embedders import get_embedder
from retrieval.indexing import Domain
from retrieval.presets import Mode, get_preset


@dataclass
class EmbeddingConfig:
    """`model` and `dims`: the name and width of the embedder in use, which a local one brings.
    `k_keyword` is None for a domain that is searched by vectors alone."""

    model: str
    dims: int
    k_vector: int
    k_keyword: int | None
    mode: Literal["hybrid", "vector"]


@dataclass
class KnowledgeDomainConfig:
    store: Literal["pgvector"]
    embedding: EmbeddingConfig


def knowledge_domains() -> dict[Domain, KnowledgeDomainConfig]:
    """Return the configuration of each domain as the settings have it now. Changing it changes
    nothing: the settings are what counts."""
    return {domain: domain_config(domain) for domain in get_args(Domain)}


def domain_config(domain: Domain) -> KnowledgeDomainConfig:
    preset, embedder = get_preset(domain), get_embedder(domain)
    by_vectors = preset.mode == Mode.VECTOR
    embedding = EmbeddingConfig(
        model=embedder.name,
        dims=embedder.dims,
        k_vector=preset.k_vector,
        k_keyword=None if by_vectors else preset.k_keyword,
        mode="vector" if by_vectors else "hybrid",
    )
    return KnowledgeDomainConfig("pgvector", embedding)
