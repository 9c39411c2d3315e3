"""Client of one language model: structured answers from any OpenAI-compatible server."""

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2
import openai
from django.conf import settings
from opentelemetry import trace
from pydantic import BaseModel
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
)

from retrieval import openai_calls
from retrieval.errors import LanguageModelDown
from retrieval.llm import structured, usage
from retrieval.llm.structured import Answer, AnswerFormat, InvalidAnswer, NoValidAnswer
from retrieval.llm.time_budget import TRIES, TimeBudget
from retrieval.openai_calls import OPENAI_URL, describe_error
from retrieval.text import encodable

MAX_ECHO = 2000  # characters of a bad answer shown to the model again
# Servers disagree on the status for an unknown `response_format`.
FORMAT_REFUSED = (400, 404, 415, 422, 501)

_tracer = trace.get_tracer("memory37.llm")
Message = dict[str, Any]


class LanguageModel:
    """One model on one server. Blocking: never call it inside a transaction or with a lock held.

    Each try writes a `LanguageModelCall` row with its `purpose`.
    """

    def __init__(self, model: str, *, base_url: str = "", api_key: str = "") -> None:
        self.model = model
        self._at_openai = (base_url or OPENAI_URL).startswith(OPENAI_URL)
        timeout = settings.LLM_TIMEOUT
        self._client = openai_calls.make_client(base_url=base_url, api_key=api_key, timeout=timeout)
        self._format = AnswerFormat.SCHEMA if self._at_openai else AnswerFormat.BOUNDED
        self._rest_until = 0.0

    @property
    def is_resting(self) -> bool:
        """Whether the model failed a short while ago, and another one is asked meanwhile."""
        return time.monotonic() < self._rest_until

    def rest(self, seconds: float) -> None:
        self._rest_until = time.monotonic() + seconds

    def generate_structured(
        self,
        system_prompt: str,
        user_prompt: str,
        response_model: type[BaseModel],
        *,
        purpose: str = "",
        tenant: str = "",
        tries: int = TRIES,
        within: float | None = None,
        deadline: TimeBudget | None = None,
    ) -> Answer:
        """Return an answer that `response_model` accepts, as a dict of its fields.

        Transient errors (429, 5xx, timeouts, lost connections, invalid answers) are retried, up to
        `tries` calls of `within` (at most `LLM_TIMEOUT`) seconds and all before the `deadline`;
        then raises `LanguageModelDown`.
        """
        if deadline and deadline.is_over:
            raise LanguageModelDown(f"{self.model}: no time is left.")
        # Outlives the tries: an invalid answer adds its correction for the next one.
        question = StructuredQuestion(
            system_prompt, user_prompt, response_model, purpose=purpose, tenant=tenant
        )

        def ask(form: AnswerFormat) -> Answer:
            limits = [settings.LLM_TIMEOUT, within, deadline and deadline.seconds_left]
            return self._call(question, form, within=min(filter(None, limits)))

        retry = retry_if_exception(is_retryable)
        longest = deadline.seconds_left if deadline else math.inf
        stop = stop_after_attempt(tries) | stop_before_delay(longest)
        retrying = Retrying(retry=retry, wait=retry_wait, stop=stop, reraise=True)
        try:
            return retrying(self._find_accepted_format, ask)
        except InvalidAnswer as error:
            detail = f"{self.model} gave no valid answer in {tries} tries: {error}"
            raise NoValidAnswer(detail) from error
        except (openai.OpenAIError, httpx2.HTTPError) as error:
            raise LanguageModelDown(f"{self.model}: {describe_error(error)}.") from error

    def _find_accepted_format(self, ask: Callable[[AnswerFormat], Answer]) -> Answer:
        """Try the formats, best first, until the server accepts one; start there next time."""
        for form in (form for form in AnswerFormat if form >= self._format):
            try:
                answer = ask(form)
            except InvalidAnswer:
                # The server accepted the format; only the model's answer was wrong.
                self._format = form
                raise
            except openai.APIStatusError as error:
                if error.status_code not in FORMAT_REFUSED or form is AnswerFormat.PLAIN:
                    raise
                continue
            self._format = form
            return answer
        raise AssertionError("AnswerFormat.PLAIN either answers or raises.")

    def _call(self, question: "StructuredQuestion", form: AnswerFormat, *, within: float) -> Answer:
        """Call the server once and return the valid answer; the call gets a row and a span."""
        # OpenAI's reasoning models refuse `max_tokens`; most other servers know nothing else.
        limit_name = "max_completion_tokens" if self._at_openai else "max_tokens"
        options: dict[str, Any] = {limit_name: settings.LLM_MAX_TOKENS}
        if settings.LLM_TEMPERATURE:
            options["temperature"] = float(settings.LLM_TEMPERATURE)
        options |= structured.request_for(question.response_model, form)
        client = self._client.with_options(timeout=openai_calls.timeout_of(within))
        create: Any = client.chat.completions.create

        attributes = {"model": self.model, "mode": form.name.lower()}
        span = _tracer.start_as_current_span("memory37.llm", attributes=attributes)
        of_call = {"purpose": question.purpose, "tenant": question.tenant}
        with span, usage.record_call(**attributes, **of_call) as row:
            messages = question.messages(form)
            try:
                answer = create(model=self.model, messages=messages, **options)
            except json.JSONDecodeError as error:
                raise InvalidAnswer("The answer is not JSON.") from error
            usage.note_usage(row, answer, messages)
            return question.read(answer)


@dataclass
class StructuredQuestion:
    """A request for a JSON object, with the correction of the last invalid answer to it."""

    system_prompt: str
    user_prompt: str
    response_model: type[BaseModel]
    purpose: str = ""
    tenant: str = ""
    correction: list[Message] = field(default_factory=list)

    def messages(self, form: AnswerFormat) -> list[Message]:
        system_prompt = structured.system_prompt_for(self.system_prompt, self.response_model, form)
        return [
            {"role": "system", "content": encodable(system_prompt)},
            {"role": "user", "content": encodable(self.user_prompt)},
            *self.correction,
        ]

    def read(self, answer: Any) -> Answer:
        """Return the validated object of `answer`; keep the complaint for the next try."""
        # A text that was cut off is not shown to the model again: small ones only repeat it.
        text = ""
        try:
            choices = getattr(answer, "choices", None)
            if not choices:
                raise InvalidAnswer("The server answered with something that is not a completion.")
            if choices[0].finish_reason == "length":
                raise InvalidAnswer("It was cut off because it is too long: be brief.")
            text = structured.text_of_answer(answer)
            return structured.parse_answer(text, self.response_model)
        except InvalidAnswer as invalid:
            complaint = (
                f"That answer cannot be used: {invalid} "
                "Answer again with the whole corrected JSON object."
            )
            # Some servers refuse an empty assistant message.
            self.correction = [
                {"role": "assistant", "content": text[:MAX_ECHO] or "…"},
                {"role": "user", "content": complaint},
            ]
            raise


def is_retryable(error: BaseException) -> bool:
    return isinstance(error, InvalidAnswer) or openai_calls.is_transient(error)


def retry_wait(state: RetryCallState) -> float:
    # The server is well when only its answer was invalid: ask again at once.
    if state.outcome and isinstance(state.outcome.exception(), InvalidAnswer):
        return 0.0
    return min(openai_calls.retry_delay(state), float(settings.LLM_TIMEOUT))
