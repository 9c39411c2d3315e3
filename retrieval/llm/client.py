"""The language model's door: structured answers, streamed text and tool calls over any
OpenAI-compatible server.

`get_llm()` is None when no model is configured; callers then process by rules, with the same types.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, TypeVar

import httpx2
import openai
from django.conf import settings
from opentelemetry import trace
from pydantic import BaseModel
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from retrieval.errors import LanguageModelDown
from retrieval.llm import usage
from retrieval.llm.structured import (
    AnswerFormat,
    InvalidAnswer,
    parse_answer,
    request_for,
    system_prompt_for,
)
from retrieval.models import LanguageModelCall
from retrieval.provider import (
    OPENAI_URL,
    describe_error,
    is_transient,
    make_client,
    retry_delay,
    timeout_of,
)
from retrieval.text import encodable

TRIES = 3
MAX_ECHO = 2000  # characters of a bad answer shown to the model again
FORMAT_REFUSED = (400, 404, 415, 422, 501)
BROKEN = (openai.OpenAIError, httpx2.HTTPError)
STREAMED: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}

_tracer = trace.get_tracer("memory37.llm")
Message = dict[str, Any]
Result = TypeVar("Result")


@dataclass(frozen=True)
class ToolCall:
    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One turn of the model: what it says, or which tools it wants. `message` goes back into the
    conversation."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    message: Message = field(default_factory=dict)


def get_llm() -> "LanguageModel | None":
    """Return the configured language model, one per process; None when there is none."""
    if not settings.LLM_MODEL:
        return None
    return _language_model(
        settings.LLM_MODEL, settings.LLM_BASE_URL, settings.LLM_API_KEY, os.getpid()
    )


@lru_cache(maxsize=4)
def _language_model(model: str, base_url: str, api_key: str, _pid: int) -> "LanguageModel":
    return LanguageModel(model, base_url=base_url, api_key=api_key)


class LanguageModel:
    """One model on one server. Blocking: never call it inside a transaction or with a lock held.

    Calls are tried up to three times on errors that pass (429, 5xx, timeouts, lost connections,
    invalid answers); what is raised afterwards, `LanguageModelDown`, is not worth another try. The
    ledger has a row for each try, under `purpose`.
    """

    def __init__(self, model: str, *, base_url: str = "", api_key: str = "") -> None:
        self.model = model
        self._at_openai = (base_url or OPENAI_URL).startswith(OPENAI_URL)
        self._client = make_client(base_url=base_url, api_key=api_key, timeout=settings.LLM_TIMEOUT)
        self._format = AnswerFormat.SCHEMA if self._at_openai else AnswerFormat.BOUNDED

    def generate_structured(
        self,
        system_prompt: str,
        user_prompt: str,
        response_model: type[BaseModel],
        *,
        purpose: str = "",
        tries: int = TRIES,
        within: float | None = None,
    ) -> dict[str, Any]:
        """Return an answer that `response_model` accepts, as a dict of its fields. Who cannot wait
        asks for fewer `tries`, each to be answered `within` so many seconds (never more than
        `LLM_TIMEOUT`)."""
        question = StructuredQuestion(system_prompt, user_prompt, response_model, within)
        return self._with_retries(
            lambda: self._find_accepted_format(partial(self._ask_once, question, purpose)),
            tries=tries,
        )

    def stream_text(
        self, system_prompt: str, user_prompt: str, *, purpose: str = ""
    ) -> Iterator[str]:
        """Yield the answer in pieces as they come. Raises `LanguageModelDown` when it breaks
        off."""
        ask = partial(self._create, _prompts(system_prompt, user_prompt), **STREAMED)
        stream = self._with_retries(ask)
        with usage.record_call(model=self.model, purpose=purpose, mode="stream") as row, stream:
            try:
                yield from stream_pieces(stream, row)
            except (*BROKEN, InvalidAnswer) as error:
                raise LanguageModelDown(
                    f"{self.model} broke off: {describe_error(error)}."
                ) from error

    def converse(
        self, messages: Sequence[Message], tools: Sequence[Message] = (), *, purpose: str = ""
    ) -> Reply:
        """Return the model's next turn in a conversation in which it may call `tools` (OpenAI
        function schemas)."""
        options: dict[str, Any] = {"tools": list(tools)} if tools else {}
        ask = partial(
            self._complete, list(messages), _reply, purpose=purpose, mode="tools", **options
        )
        return self._with_retries(ask)

    def _ask_once(
        self, question: "StructuredQuestion", purpose: str, way: AnswerFormat
    ) -> dict[str, Any]:
        options = {**request_for(question.response_model, way), "within": question.within}
        return self._complete(
            question.messages(way), question.read, purpose=purpose, mode=way.name.lower(), **options
        )

    def _find_accepted_format(self, put: Callable[[AnswerFormat], Result]) -> Result:
        """Go down from the best way until the server takes one, and begin there the next time."""
        for way in AnswerFormat:
            if way < self._format:
                continue
            try:
                answer = put(way)
            except InvalidAnswer:
                self._format = way
                raise
            except openai.APIStatusError as error:
                if error.status_code not in FORMAT_REFUSED or way is AnswerFormat.PLAIN:
                    raise
                continue
            self._format = way
            return answer
        raise AssertionError("The plain way either answers or raises.")

    def _with_retries(self, call: Callable[[], Result], *, tries: int = TRIES) -> Result:
        trying = Retrying(
            retry=retry_if_exception(is_retryable),
            wait=retry_wait,
            stop=stop_after_attempt(tries),
            reraise=True,
        )
        try:
            return trying(call)
        except InvalidAnswer as error:
            raise LanguageModelDown(
                f"{self.model} gave no valid answer in {tries} tries: {error}"
            ) from error
        except BROKEN as error:
            raise LanguageModelDown(f"{self.model}: {describe_error(error)}.") from error

    def _complete(
        self,
        messages: list[Message],
        read: Callable[[Any], Result],
        *,
        purpose: str,
        mode: str,
        **options: Any,
    ) -> Result:
        span = _tracer.start_as_current_span(
            "memory37.llm", attributes={"model": self.model, "mode": mode}
        )
        with span, usage.record_call(model=self.model, purpose=purpose, mode=mode) as row:
            answer = self._create(messages, **options)
            usage.note_usage(row, getattr(answer, "usage", None))
            return read(answer)

    def _create(
        self, messages: list[Message], *, within: float | None = None, **options: Any
    ) -> Any:
        longest = "max_completion_tokens" if self._at_openai else "max_tokens"
        limits: dict[str, Any] = {longest: settings.LLM_MAX_TOKENS}
        if settings.LLM_TEMPERATURE:
            limits["temperature"] = float(settings.LLM_TEMPERATURE)
        seconds = min(settings.LLM_TIMEOUT, within or settings.LLM_TIMEOUT)
        create: Any = self._client.with_options(timeout=timeout_of(seconds)).chat.completions.create
        try:
            return create(model=self.model, messages=messages, **limits, **options)
        except json.JSONDecodeError as error:
            raise InvalidAnswer("The answer is not JSON.") from error


@dataclass
class StructuredQuestion:
    """A question for an object, and what was wrong with the last answer to it."""

    system_prompt: str
    user_prompt: str
    response_model: type[BaseModel]
    within: float | None = None
    correction: list[Message] = field(default_factory=list)

    def messages(self, way: AnswerFormat) -> list[Message]:
        system_prompt = system_prompt_for(self.system_prompt, self.response_model, way)
        return [*_prompts(system_prompt, self.user_prompt), *self.correction]

    def read(self, answer: Any) -> dict[str, Any]:
        text = ""
        try:
            text = _text(answer)
            return parse_answer(text, self.response_model)
        except InvalidAnswer as invalid:
            complaint = (
                f"That answer cannot be used: {invalid} "
                "Answer again with the whole corrected JSON object."
            )
            self.correction = [
                {"role": "assistant", "content": text[:MAX_ECHO] or "…"},
                {"role": "user", "content": complaint},
            ]
            raise


def _prompts(system_prompt: str, user_prompt: str) -> list[Message]:
    return [
        {"role": "system", "content": encodable(system_prompt)},
        {"role": "user", "content": encodable(user_prompt)},
    ]


def is_retryable(error: BaseException) -> bool:
    return isinstance(error, InvalidAnswer) or is_transient(error)


def retry_wait(state: RetryCallState) -> float:
    if state.outcome and isinstance(state.outcome.exception(), InvalidAnswer):
        return 0.0
    return min(retry_delay(state), float(settings.LLM_TIMEOUT))


def _choice(answer: Any) -> Any:
    choices = getattr(answer, "choices", None)
    if not choices:
        raise InvalidAnswer("The server answered with something that is not a completion.")
    return choices[0]


def _text(answer: Any) -> str:
    choice = _choice(answer)
    if choice.finish_reason == "length":
        raise InvalidAnswer("It was cut off because it is too long: be brief.")
    return str(choice.message.content or "")


def _reply(answer: Any) -> Reply:
    message = _choice(answer).message
    calls = tuple(
        ToolCall(call.id, call.function.name, parse_arguments(call.function.arguments))
        for call in message.tool_calls or ()
    )
    spoken = {
        "role": "assistant",
        **message.model_dump(include={"content", "tool_calls"}, exclude_none=True),
    }
    return Reply(str(message.content or ""), calls, spoken)


def parse_arguments(encoded: str) -> dict[str, Any]:
    try:
        arguments = json.loads(encoded or "{}")
    except ValueError as error:
        raise InvalidAnswer("The arguments of a tool call are not JSON.") from error
    if not isinstance(arguments, dict):
        raise InvalidAnswer("The arguments of a tool call are not an object.")
    return arguments


def stream_pieces(stream: Iterable[Any], row: LanguageModelCall) -> Iterator[str]:
    finished = False
    for chunk in stream:
        if chunk.usage:
            usage.note_usage(row, chunk.usage)
        for choice in chunk.choices:
            finished = finished or choice.finish_reason is not None
            if choice.delta.content:
                yield choice.delta.content
    if not finished:
        raise InvalidAnswer("The stream has no end.")
