"""System checks of embedder, re-ranker and language model, each with an id and a hint."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.utils.module_loading import import_string

from retrieval.embedders import BUILT_IN, embedder_path
from retrieval.embedders.local import local_files
from retrieval.embedders.onnx_folder import ModelFolder
from retrieval.errors import EmbedderDown
from retrieval.rerankers import BUILT_IN as RERANKERS
from retrieval.rerankers import reranker_path

ADDRESSES = ("OPENAI_BASE_URL", "LLM_BASE_URL", "LLM_FALLBACK_BASE_URL")
SMALLEST_PROMPT = 3000  # tokens


@register()
def check_embedder(**_kwargs: Any) -> list[CheckMessage]:
    try:
        import_string(embedder_path())
    except ImportError as error:
        hint = f"Set EMBEDDER to one of {', '.join(BUILT_IN)}, or to the dotted path of a class."
        detail = f"EMBEDDER={settings.EMBEDDER!r} is not an embedder: {error}"
        return [Error(detail, hint=hint, id="retrieval.E001")]
    return []


@register()
def check_model_folder(**_kwargs: Any) -> list[CheckMessage]:
    if settings.EMBEDDER != "onnx":
        return []
    try:
        ModelFolder(Path(settings.EMBEDDING_MODEL)).check()
    except EmbedderDown as error:
        hint = "Correct EMBEDDING_MODEL, or set EMBEDDER=local."
        return [Error(str(error), hint=hint, id="retrieval.E009")]
    return []


@register()
def check_reranker(**_kwargs: Any) -> list[CheckMessage]:
    path = reranker_path()
    try:
        if path:
            import_string(path)
    except ImportError as error:
        names = ", ".join(RERANKERS)
        hint = f"Set RERANKER to one of {names}, to the dotted path of a class, or empty for none."
        detail = f"RERANKER={settings.RERANKER!r} is not a re-ranker: {error}"
        return [Error(detail, hint=hint, id="retrieval.E010")]
    return []


@register()
def check_local_weights(**_kwargs: Any) -> list[CheckMessage]:
    if settings.EMBEDDER != "local":
        return []
    try:
        local_files()
    except FileNotFoundError as error:
        hint = "Run `make up`, which installs them, or set EMBEDDER=openai."
        detail = f"The local embedder lacks its weights: {error}"
        return [Error(detail, hint=hint, id="retrieval.E002")]
    return []


@register()
def check_hosted_model(**_kwargs: Any) -> list[CheckMessage]:
    if settings.EMBEDDER != "openai" or settings.OPENAI_API_KEY or settings.OPENAI_BASE_URL:
        return []
    hint = "Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, or EMBEDDER=local."
    return [Error("EMBEDDER=openai without a key or a server.", hint=hint, id="retrieval.E003")]


@register()
def check_hashing(**_kwargs: Any) -> list[CheckMessage]:
    if settings.EMBEDDER != "hashing" or settings.DEBUG:
        return []
    hint = "Set EMBEDDER=local or EMBEDDER=openai: hashed words know no meaning."
    return [Warning("EMBEDDER=hashing is meant for tests.", hint=hint, id="retrieval.W001")]


@register()
def check_addresses(**_kwargs: Any) -> list[CheckMessage]:
    addresses = {name: getattr(settings, name) for name in ADDRESSES}
    hint = "Give it as http://host:port/v1"
    return [
        Error(f"{name} is not a web address: {address!r}.", hint=hint, id="retrieval.E004")
        for name, address in addresses.items()
        if address and not address.startswith(("http://", "https://"))
    ]


@register()
def check_widths(**_kwargs: Any) -> list[CheckMessage]:
    if 0 <= settings.EMBEDDING_DIMS <= 4000:
        return []
    hint = "At most 4000 dimensions are indexed; 0 takes the width of the domain's preset."
    detail = f"EMBEDDING_DIMS={settings.EMBEDDING_DIMS} cannot be indexed."
    return [Error(detail, hint=hint, id="retrieval.E005")]


@register()
def check_language_model(**_kwargs: Any) -> list[CheckMessage]:
    if not settings.LLM_MODEL or settings.LLM_API_KEY or settings.LLM_BASE_URL:
        return []
    hint = "Set LLM_API_KEY, OPENAI_API_KEY or LLM_BASE_URL, or leave LLM_MODEL empty."
    return [Error("LLM_MODEL is set without a key or a server.", hint=hint, id="retrieval.E006")]


@register()
def check_limits_of_language_model(**_kwargs: Any) -> list[CheckMessage]:
    messages: list[CheckMessage] = []
    if settings.LLM_PROMPT_TOKENS < SMALLEST_PROMPT:
        hint = f"Set at least {SMALLEST_PROMPT}: the summaries of the parts must fit into one."
        detail = f"LLM_PROMPT_TOKENS={settings.LLM_PROMPT_TOKENS} is too small."
        messages.append(Error(detail, hint=hint, id="retrieval.E007"))
    has_price = settings.LLM_PRICE_IN or settings.LLM_PRICE_OUT
    if (settings.LLM_DAILY_COST or settings.LLM_DAILY_COST_PER_WORLD) and not has_price:
        hint = "Set LLM_PRICE_IN and LLM_PRICE_OUT, or limit the tokens (LLM_DAILY_TOKENS)."
        detail = "A daily cost of the language model is set, but no price: it is never reached."
        messages.append(Error(detail, hint=hint, id="retrieval.E008"))
    return messages
