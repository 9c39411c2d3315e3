"""What every REST endpoint needs and no app should write twice: the key, the caller, idempotency, entity tags.

    router = Router(tags=["lore"], auth=NeedsKey(Scope.WORLD_WRITE))

    @router.put("/lore/{ref}", operation_id="lore_upsert", response=LoreOut)
    def upsert_lore(request: HttpRequest, response: HttpResponse, ref: str, entry: LoreIn) -> Lore:
        check_match(request, stored_version)       # 412 when If-Match names another one
        lore = recording.upsert(caller_of(request).world, ref, entry)
        tag(response, lore.version)                # ETag
        return lore

`Idempotency-Key`, rate limit, request id and the audit row need nothing: `through` wraps every operation. Nor need the
problem answers (401, 403, 404, 422, 429 …) be declared: `memory_site.api` adds them to every operation.
"""

from collections.abc import Callable, Mapping
from functools import partial, wraps
from time import perf_counter
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja.operation import Operation
from ninja.security.base import AuthBase

from retrieval.errors import AudienceAboveCap, Stale, Unauthorized
from worlds import audit, idempotency, keys, rate_limits
from worlds.callers import Caller
from worlds.idempotency import Answer


class NeedsKey(AuthBase):
    """A key by `Authorization: Bearer` or `X-API-Key`, with `scope`, counted under the operation's own name.

    `counted=False` is for operations that pass the call on to the toolbox, which counts it under the tool's name.
    """

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, scope: str | None = None, *, counted: bool = True) -> None:
        self.scope, self.counted = scope, counted
        super().__init__()

    def __call__(self, request: HttpRequest) -> Caller:
        caller = Caller.holding(
            keys.verify(presented_key(request)), request_id=getattr(request, "request_id", "")
        )
        request.caller = caller  # type: ignore[attr-defined]
        if self.counted:
            caller, allowance = rate_limits.admit(caller, operation_of(request))
            request.caller, request.allowance = caller, allowance  # type: ignore[attr-defined]
            if self.scope:
                caller.require(self.scope)
        return caller


def presented_key(request: HttpRequest) -> str:
    """Return the key's text from whichever header carries it; raises `Unauthorized`."""
    return key_in_headers(request.headers)


def key_in_headers(headers: Mapping[str, str]) -> str:
    """Return the key's text from whichever of `headers` (a case-insensitive mapping) carries it."""
    scheme, _space, token = headers.get("Authorization", "").partition(" ")
    is_bearer = scheme.lower() == "bearer"
    text = (token if is_bearer else headers.get("X-API-Key", "")).strip()
    if not text:
        raise Unauthorized(keys.NO_KEY)
    return text


def caller_of(request: HttpRequest) -> Caller:
    """Return who asks, as `NeedsKey` found out."""
    caller = request.caller  # type: ignore[attr-defined]
    assert isinstance(caller, Caller)
    return caller


def require_gm(request: HttpRequest) -> Caller:
    """Return the caller; raises `AudienceAboveCap` unless the key's audience is gm.

    Whoever writes to the world reads secrets in the answers, so the scope to write is not enough.
    """
    caller = caller_of(request)
    if not caller.audience.is_gm:
        raise AudienceAboveCap("This needs a key whose audience cap is gm.")
    return caller


def operation_of(request: HttpRequest) -> str:
    """The operation id under which this request is counted and audited."""
    return str(getattr(request, "operation", "") or request.path)


def tag(response: HttpResponse, version: int) -> None:
    """Name the version of the entity in the answer's `ETag`."""
    response["ETag"] = f'"{version}"'


def check_match(request: HttpRequest, version: int | None) -> None:
    """Raise `Stale` when the request's `If-Match` names another version than the stored one (None: nothing stored)."""
    wanted = request.headers.get("If-Match")
    if wanted is None or (wanted.strip() == "*" and version is not None):
        return
    tags = {tag.strip().removeprefix("W/").strip('"') for tag in wanted.split(",")}
    if version is None or str(version) not in tags:
        stored = "nothing is stored" if version is None else f"version {version} is stored"
        raise Stale(f"If-Match names {wanted}, but {stored}: read it again, then decide.")


def own_transaction(view: Callable[..., Any]) -> Callable[..., Any]:
    """Mark what must not run inside one transaction, because it calls a model on its way."""
    view.own_transaction = True  # type: ignore[attr-defined]
    return view


def through(run: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Wrap every operation of the API: name it, let `Idempotency-Key` work, tell what is left, write the audit row."""
    operation: Operation = run.__self__  # type: ignore[attr-defined]
    operation.view_func = _once_if_asked(operation)
    name = operation.operation_id or operation.view_func.__name__

    @wraps(run)
    def running(request: HttpRequest, **values: Any) -> HttpResponse:
        request.operation, begun = name, perf_counter()  # type: ignore[attr-defined]
        response = run(request, **values)
        if allowance := getattr(request, "allowance", None):
            _set_headers(response, {**allowance.headers, **response.headers})
        _audit(request, response, (perf_counter() - begun) * 1000)
        return response

    return running


def _audit(request: HttpRequest, response: HttpResponse, milliseconds: float) -> None:
    caller: Caller | None = getattr(request, "caller", None)
    if caller is None or getattr(request, "audited", False):
        return
    call = audit.Call(
        operation_of(request),
        "rest",
        caller,
        status=response.status_code,
        milliseconds=milliseconds,
    )
    call.code = getattr(response, "problem_code", "")
    returned = getattr(request, "returned", ())
    call.returned = lambda: returned
    audit.record(call)


def _once_if_asked(operation: Operation) -> Callable[..., Any]:
    view = operation.view_func

    @wraps(view)
    def viewing(request: HttpRequest, **values: Any) -> Any:
        token = request.headers.get("Idempotency-Key")
        caller: Caller | None = getattr(request, "caller", None)
        if token is None or request.method == "GET" or caller is None or caller.key is None:
            return view(request, **values)
        fingerprint = b"\n".join(
            [str(request.method).encode(), request.get_full_path().encode(), request.body]
        )
        atomic = not getattr(view, "own_transaction", False)
        write = partial(_answer, operation, view, request, values)
        return _replay(idempotency.once(caller.key, token, fingerprint, write, atomic=atomic))

    return viewing


def _answer(
    operation: Operation, view: Callable[..., Any], request: HttpRequest, values: dict[str, Any]
) -> Answer:
    """Run the endpoint as ninja would, down to the bytes of its answer."""
    temporal = values.get(
        operation.signature.response_arg or ""
    ) or operation.api.create_temporal_response(request)
    response = operation._result_to_response(request, view(request, **values), temporal)
    assert isinstance(response, HttpResponse)
    return Answer(response.status_code, response.content, dict(response.items()))


def _replay(answer: Answer) -> HttpResponse:
    response = HttpResponse(answer.body, status=answer.status)
    _set_headers(response, answer.headers)
    if answer.replayed:
        response["Idempotent-Replayed"] = "true"
    return response


def _set_headers(response: HttpResponse, headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        response[name] = value
