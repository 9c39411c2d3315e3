"""Client of the language model: structured answers, streamed text and tool calls over any
OpenAI-compatible server.

`get_llm()` returns None when no model is configured; callers then use rules and return the same
types.
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

from retrieval import provider
from retrieval.errors import LanguageModelDown
from retrieval.llm import structured, usage
from retrieval.llm.structured import AnswerFormat, InvalidAnswer
from retrieval.models import LanguageModelCall
from retrieval.provider import OPENAI_URL, describe_error
from retrieval.text import encodable

TRIES = 3
MAX_ECHO = 2000  # characters of a bad answer shown to the model again
# Servers disagree on the status for an unknown `response_format`.
FORMAT_REFUSED = (400, 404, 415, 422, 501)
BROKEN = (openai.OpenAIError, httpx2.HTTPError)
STREAMED: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}

_tracer = trace.get_tracer("memory37.llm")
Message = dict[str, Any]
Result = TypeVar("Result")


@dataclass(frozen=True)
class RequestedCall:
    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One turn of the model: text or tool calls. `message` is appended to the conversation."""

    text: str
    tool_calls: tuple[RequestedCall, ...] = ()
    message: Message = field(default_factory=dict)


def get_llm() -> "LanguageModel | None":
    """Return the configured language model, one per process; None when there is none."""
    if not settings.LLM_MODEL:
        return None
    # The process id is part of the cache key: a forked child must not share its parent's sockets.
    key = (settings.LLM_MODEL, settings.LLM_BASE_URL, settings.LLM_API_KEY, os.getpid())
    return _make_language_model(*key)


@lru_cache(maxsize=4)
def _make_language_model(model: str, base_url: str, api_key: str, _pid: int) -> "LanguageModel":
    return LanguageModel(model, base_url=base_url, api_key=api_key)


class LanguageModel:
    """One model on one server. Blocking: never call it inside a transaction or with a lock held.

    Calls are retried up to three times on transient errors (429, 5xx, timeouts, lost connections,
    invalid answers), then raise `LanguageModelDown`. Each try writes a `LanguageModelCall` row with
    its `purpose`.
    """

    def __init__(self, model: str, *, base_url: str = "", api_key: str = "") -> None:
        self.model = model
        self._at_openai = (base_url or OPENAI_URL).startswith(OPENAI_URL)
        timeout = settings.LLM_TIMEOUT
        self._client = provider.make_client(base_url=base_url, api_key=api_key, timeout=timeout)
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
        """Return an answer that `response_model` accepts, as a dict of its fields. A caller with
        little time passes fewer `tries` and a time limit for each in seconds (`within`, at most
        `LLM_TIMEOUT`)."""
        # Outlives the tries: an invalid answer adds its correction for the next one.
        question = StructuredQuestion(system_prompt, user_prompt, response_model)

        def ask(form: AnswerFormat) -> dict[str, Any]:
            options = {**structured.request_for(response_model, form), "within": within}
            mode, messages = form.name.lower(), question.messages(form)
            return self._complete(messages, question.read, purpose=purpose, mode=mode, **options)

        return self._with_retries(lambda: self._find_accepted_format(ask), tries=tries)

    def stream_text(
        self, system_prompt: str, user_prompt: str, *, purpose: str = ""
    ) -> Iterator[str]:
        """Yield the answer in pieces as they arrive. Raises `LanguageModelDown` when the stream
        breaks off."""
        ask = partial(self._create, _prompts(system_prompt, user_prompt), **STREAMED)
        stream = self._with_retries(ask)
        with usage.record_call(model=self.model, purpose=purpose, mode="stream") as row, stream:
            try:
                yield from stream_pieces(stream, row)
            except (*BROKEN, InvalidAnswer) as error:
                detail = f"{self.model} broke off: {describe_error(error)}."
                raise LanguageModelDown(detail) from error

    def converse(
        self, messages: Sequence[Message], tools: Sequence[Message] = (), *, purpose: str = ""
    ) -> Reply:
        """Return the model's next turn in a conversation in which it may call `tools` (OpenAI
        function schemas)."""
        options: dict[str, Any] = {"tools": list(tools)} if tools else {}
        ask = partial(self._complete, list(messages), read_reply, purpose=purpose, mode="tools")
        return self._with_retries(partial(ask, **options))

    def _find_accepted_format(self, ask: Callable[[AnswerFormat], Result]) -> Result:
        """Try the answer formats, best first, until the server accepts one; the next call starts
        with that one."""
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

    def _with_retries(self, call: Callable[[], Result], *, tries: int = TRIES) -> Result:
        retry, stop = retry_if_exception(is_retryable), stop_after_attempt(tries)
        try:
            return Retrying(retry=retry, wait=retry_wait, stop=stop, reraise=True)(call)
        except InvalidAnswer as error:
            detail = f"{self.model} gave no valid answer in {tries} tries: {error}"
            raise LanguageModelDown(detail) from error
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
        attributes = {"model": self.model, "mode": mode}
        span = _tracer.start_as_current_span("memory37.llm", attributes=attributes)
        with span, usage.record_call(model=self.model, purpose=purpose, mode=mode) as row:
            answer = self._create(messages, **options)
            usage.note_usage(row, getattr(answer, "usage", None))
            return read(answer)

    def _create(
        self, messages: list[Message], *, within: float | None = None, **options: Any
    ) -> Any:
        # OpenAI's reasoning models refuse `max_tokens`; most other servers know nothing else.
        limit_name = "max_completion_tokens" if self._at_openai else "max_tokens"
        limits: dict[str, Any] = {limit_name: settings.LLM_MAX_TOKENS}
        if settings.LLM_TEMPERATURE:
            limits["temperature"] = float(settings.LLM_TEMPERATURE)
        seconds = min(settings.LLM_TIMEOUT, within or settings.LLM_TIMEOUT)
        client = self._client.with_options(timeout=provider.timeout_of(seconds))
        create: Any = client.chat.completions.create
        try:
            return create(model=self.model, messages=messages, **limits, **options)
        except json.JSONDecodeError as error:
            raise InvalidAnswer("The answer is not JSON.") from error


@dataclass
class StructuredQuestion:
    """A request for a JSON object, with the correction of the last invalid answer to it."""

    system_prompt: str
    user_prompt: str
    response_model: type[BaseModel]
    correction: list[Message] = field(default_factory=list)

    def messages(self, form: AnswerFormat) -> list[Message]:
        system_prompt = structured.system_prompt_for(self.system_prompt, self.response_model, form)
        return [*_prompts(system_prompt, self.user_prompt), *self.correction]

    def read(self, answer: Any) -> dict[str, Any]:
        """Return the validated object of `answer`; note what was wrong for the next try."""
        text = ""
        try:
            choice = first_choice(answer)
            if choice.finish_reason == "length":
                raise InvalidAnswer("It was cut off because it is too long: be brief.")
            text = str(choice.message.content or "")
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


def _prompts(system_prompt: str, user_prompt: str) -> list[Message]:
    return [
        {"role": "system", "content": encodable(system_prompt)},
        {"role": "user", "content": encodable(user_prompt)},
    ]


def is_retryable(error: BaseException) -> bool:
    return isinstance(error, InvalidAnswer) or provider.is_transient(error)


def retry_wait(state: RetryCallState) -> float:
    # The server is well when only its answer was invalid: ask again at once.
    if state.outcome and isinstance(state.outcome.exception(), InvalidAnswer):
        return 0.0
    return min(provider.retry_delay(state), float(settings.LLM_TIMEOUT))


def first_choice(answer: Any) -> Any:
    choices = getattr(answer, "choices", None)
    if not choices:
        raise InvalidAnswer("The server answered with something that is not a completion.")
    return choices[0]


def read_reply(answer: Any) -> Reply:
    message = first_choice(answer).message
    calls = tuple(
        RequestedCall(call.id, call.function.name, parse_arguments(call.function.arguments))
        for call in message.tool_calls or ()
    )
    turn = message.model_dump(include={"content", "tool_calls"}, exclude_none=True)
    return Reply(str(message.content or ""), calls, {"role": "assistant", **turn})


def parse_arguments(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text or "{}")
    except ValueError as error:
        raise InvalidAnswer("The arguments of a tool call are not JSON.") from error
    if not isinstance(arguments, dict):
        raise InvalidAnswer("The arguments of a tool call are not an object.")
    return arguments


def stream_pieces(stream: Iterable[Any], row: LanguageModelCall) -> Iterator[str]:
    """Yield the text of `stream` and note its token usage in `row`."""
    has_end = False
    for chunk in stream:
        if chunk.usage:
            usage.note_usage(row, chunk.usage)
        for choice in chunk.choices:
            has_end = has_end or choice.finish_reason is not None
            if choice.delta.content:
                yield choice.delta.content
    # A server that dies in mid-answer may close the connection like one that has finished.
    if not has_end:
        raise InvalidAnswer("The stream has no end.")
