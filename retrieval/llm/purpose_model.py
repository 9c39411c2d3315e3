"""The language model for a purpose: within its allowance, with a fallback, answers kept."""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.cache import cache
from pydantic import BaseModel

from retrieval.errors import LanguageModelDown
from retrieval.llm.allowance import require_allowance
from retrieval.llm.purposes import Purpose
from retrieval.llm.structured import Answer, NoValidAnswer
from retrieval.llm.time_budget import CONNECT_TIMEOUT, TRIES, TimeBudget

if TYPE_CHECKING:
    from retrieval.llm.client import LanguageModel


def get_llm(purpose: Purpose, tenant: str = "") -> "PurposeModel | None":
    """Return the language model for `purpose`, or None when none is configured: callers then use
    rules. `tenant` is the id of the world whose allowance pays."""
    model = settings.LLM_MODELS.get(purpose) or settings.LLM_MODEL
    if not model:
        return None
    models = [_language_model(model, settings.LLM_BASE_URL, settings.LLM_API_KEY, os.getpid())]
    if settings.LLM_FALLBACK_MODEL:
        # A server of its own has a key of its own, or none: the first one's key is not sent there.
        is_same_server = not settings.LLM_FALLBACK_BASE_URL
        url = settings.LLM_BASE_URL if is_same_server else settings.LLM_FALLBACK_BASE_URL
        key = settings.LLM_FALLBACK_API_KEY or (settings.LLM_API_KEY if is_same_server else "")
        models.append(_language_model(settings.LLM_FALLBACK_MODEL, url, key, os.getpid()))
    return PurposeModel(purpose, tenant, tuple(models))


@lru_cache(maxsize=16)
def _language_model(model: str, base_url: str, api_key: str, _pid: int) -> "LanguageModel":
    # Its import takes a fifth of the time in which a process starts, and few processes need it.
    from retrieval.llm.client import LanguageModel

    # The process id is part of the key: a forked child must not share its parent's sockets.
    return LanguageModel(model, base_url=base_url, api_key=api_key)


@dataclass(frozen=True)
class PurposeModel:
    """The models that are asked for one purpose, in turn. Blocking: never call it inside a
    transaction or with a lock held."""

    purpose: Purpose
    tenant: str
    models: "tuple[LanguageModel, ...]"

    @property
    def is_resting(self) -> bool:
        """Whether every model failed a short while ago: who can do without asks none of them."""
        return all(model.is_resting for model in self.models)

    def generate_structured(
        self,
        system_prompt: str,
        user_prompt: str,
        response_model: type[BaseModel],
        *,
        tries: int = TRIES,
        within: float | None = None,
        deadline: TimeBudget | None = None,
        reuse: bool = False,
    ) -> Answer:
        """Return an answer that `response_model` accepts, as a dict of its fields.

        With `reuse`, the same question gets the answer of the last `LLM_CACHE_SECONDS` again, from
        Django's cache: for parts of long texts, which are asked about again when a later part
        fails. `tries` and `within` are those of each model, `deadline` is that of all. Raises
        `LanguageModelDown` when all models failed, `AllowanceSpent` when none may be asked.
        """
        ask = partial(
            self._ask_in_turn,
            system_prompt,
            user_prompt,
            response_model,
            tries=tries,
            within=within,
            deadline=deadline,
        )
        if not reuse:
            return ask()
        key = self._key_of(system_prompt, user_prompt, response_model)
        kept: Answer | None = cache.get(key)
        if kept is None:
            kept = ask()
            cache.set(key, kept, settings.LLM_CACHE_SECONDS)
        return kept

    def _ask_in_turn(
        self,
        system_prompt: str,
        user_prompt: str,
        response_model: type[BaseModel],
        *,
        tries: int,
        within: float | None,
        deadline: TimeBudget | None,
    ) -> Answer:
        failure: LanguageModelDown | None = None
        for model in self._models_to_ask():
            require_allowance(self.tenant)
            # A model that was hardly given the time to connect has not shown that it is down.
            is_hurried = deadline is not None and deadline.seconds_left < CONNECT_TIMEOUT
            try:
                return model.generate_structured(
                    system_prompt,
                    user_prompt,
                    response_model,
                    purpose=self.purpose,
                    tenant=self.tenant,
                    tries=tries,
                    within=within,
                    deadline=deadline,
                )
            except LanguageModelDown as error:
                failure = error
                # A server that answered is well, even if this answer was no use.
                if not isinstance(error, NoValidAnswer) and not is_hurried:
                    model.rest(settings.LLM_REST)
        assert failure
        raise failure

    def _models_to_ask(self) -> Iterator["LanguageModel"]:
        """Yield the models that did not fail lately; the last one always, so that one is asked."""
        *others, last = self.models
        yield from (model for model in others if not model.is_resting)
        yield last

    def _key_of(self, system_prompt: str, user_prompt: str, response_model: type[BaseModel]) -> str:
        parts = [self.tenant, *(model.model for model in self.models), system_prompt, user_prompt]
        schema = response_model.model_json_schema()
        text = json.dumps([*parts, schema], sort_keys=True)
        return f"llm-{hashlib.sha256(text.encode()).hexdigest()}"
