"""What every REST endpoint needs: the key, the caller, the GM guard, idempotency, entity tags.

    router = Router(tags=["lore"], auth=NeedsKey(Scope.WORLD_WRITE))

    @router.put("/lore/{ref}", operation_id="lore_upsert", response=LoreOut)
    def put_lore(request: HttpRequest, response: HttpResponse, ref: str, entry: LoreIn) -> Lore:
        with expecting(request, stored_version) as version:  # 412 when If-Match names another one
            lore = upsert_lore(require_gm(request).world, entry, expected_version=version)
        tag(response, lore.version)                # ETag
        return lore

`Idempotency-Key`, rate limit, request id and the audit row need nothing: `wrap_operation` wraps
every operation. Nor do the problem answers (401, 403, 404, 422, 429 …) need declaring:
`memory_site.openapi` adds them to every operation.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial, wraps
from hashlib import sha256
from time import perf_counter
from typing import Any
from urllib.parse import unquote

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from ninja.operation import Operation
from ninja.security.base import AuthBase

from retrieval.errors import AudienceAboveCap, Forbidden, Invalid, Stale, StaleVersion
from worlds import audit, idempotency, keys
from worlds.browser_origins import check_origin
from worlds.callers import FOR_GMS, Caller, admit, count_call
from worlds.deprecations import DEPRECATED
from worlds.idempotency import StoredResponse
from worlds.keys import Scope
from worlds.models import ApiKey
from worlds.rest_fields import (
    PARAMETER,
    RowFields,
    chosen_fields,
    fields_to_choose,
    keep_fields,
)
from worlds.unknown_input import (
    is_body_sent,
    query_parameters,
    takes_body,
    unknown_body,
    unknown_parameters,
)

GONE = {
    "description": "Gone",
    "content": {
        "application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemOut"}}
    },
}
"""In the document: what an operation answers that reads the event log from a given event on."""
AGENT_NAME = re.compile(r"[^\x00-\x1f]{1,120}")


class NeedsKey(AuthBase):
    """A key by `Authorization: Bearer` or `X-API-Key`, with `scope`, counted under the operation's
    own name.

    `counted=False` is for operations that pass the call on to the toolbox, which counts it under
    the tool's name.
    """

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, scope: str | None = None, *, counted: bool = True) -> None:
        self.scope, self.counted = scope, counted
        super().__init__()

    def __call__(self, request: HttpRequest) -> Caller:
        if caller := getattr(request, "caller", None):
            # An idempotent write authenticates before django-ninja does: count it once.
            assert isinstance(caller, Caller)
            return caller
        caller = caller_with_headers(request.headers, getattr(request, "request_id", ""))
        if caller.key:
            check_origin(request, caller.key)
        request.caller = caller  # type: ignore[attr-defined]  # a refused call is audited too
        if self.counted:
            caller, allowance = admit(caller, operation_of(request))
            request.caller, request.allowance = caller, allowance  # type: ignore[attr-defined]
            if self.scope:
                caller.require(self.scope)
        return caller


class NeedsAnyKey(AuthBase):
    """A key, whether it is for a world or for the installation. The endpoint reads it with
    `key_of`."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __call__(self, request: HttpRequest) -> ApiKey:
        if key := getattr(request, "api_key", None):
            assert isinstance(key, ApiKey)  # an idempotent write authenticates before
            return key
        key, allowance = count_call(
            keys.verify(keys.key_in_headers(request.headers)), operation_of(request)
        )
        check_origin(request, key)
        request.api_key, request.allowance = key, allowance  # type: ignore[attr-defined]
        return key


class NeedsInstallationKey(NeedsAnyKey):
    """A key that is for no single world."""

    def __call__(self, request: HttpRequest) -> ApiKey:
        key = super().__call__(request)
        if key.world_id is not None:
            raise Forbidden(
                "This needs a key for the whole installation; this key is for one world. The "
                "operator makes one with `manage.py make_key --installation`."
            )
        return key


def key_of(request: HttpRequest) -> ApiKey:
    """Return the key that `NeedsAnyKey` or `NeedsKey` has verified."""
    if key := getattr(request, "api_key", None):
        assert isinstance(key, ApiKey)
        return key
    caller_key = caller_of(request).key
    assert caller_key is not None
    return caller_key


def caller_with_headers(headers: Mapping[str, str], request_id: str) -> Caller:
    """Return the holder of the key in `headers`, in the world that `X-World` names if the key has
    none, with the agent that `X-Namespace` names if the key has none. Raises `Unauthorized`,
    `WorldMissing`, `WrongWorld`, `NotFound` or `Forbidden`."""
    key = keys.verify(keys.key_in_headers(headers))
    slug = text_of_header(headers.get("X-World", ""))
    caller = Caller.with_key(key, world_slug=slug, request_id=request_id)
    namespace = text_of_header(headers.get("X-Namespace", ""))
    return with_namespace(caller, namespace) if namespace else caller


def text_of_header(value: str) -> str:
    """Return a name in a header as it was meant. A header is Latin-1: a name in another script
    comes as the bytes of UTF-8 (curl) or percent-encoded (clients that send ASCII alone)."""
    with suppress(UnicodeError):
        value = value.encode("latin-1").decode()
    decoded = unquote(value)
    # `50%25` is a name of its own: only other scripts have to be encoded.
    return value if decoded.isascii() else decoded


def with_namespace(caller: Caller, namespace: str) -> Caller:
    """Return `caller` as the agent of that name. An administrator's key, which could make a key for
    any agent, may name any; others have the one that their key says, or none. What an agent
    remembers belongs to no campaign: a key that is bound to one chooses none."""
    if not AGENT_NAME.fullmatch(namespace):
        raise Invalid("X-Namespace is the name of an agent: at most 120 characters.")
    if caller.namespace == namespace:
        return caller
    if caller.namespace or caller.campaign or Scope.ADMIN not in caller.scopes:
        raise Forbidden("This key must not choose the agent: leave out X-Namespace.")
    return replace(caller, namespace=namespace)


def caller_of(request: HttpRequest) -> Caller:
    """Return the caller whom `NeedsKey` has authenticated."""
    caller = request.caller  # type: ignore[attr-defined]
    assert isinstance(caller, Caller)
    return caller


def require_gm(request: HttpRequest) -> Caller:
    """Return the caller; raises `AudienceAboveCap` unless the key's audience is gm.

    Whoever writes to the world reads secrets in the answers, so the scope to write is not enough.
    """
    caller = caller_of(request)
    if not caller.audience.is_gm:
        raise AudienceAboveCap(f"This needs a key whose audience cap is gm. {FOR_GMS}")
    return caller


def require_whole_world(request: HttpRequest) -> Caller:
    """Return the caller; raises `AudienceAboveCap` unless the key's audience is gm, and `Forbidden`
    for a key that is bound to a campaign: neither what other campaigns hold nor what all of them
    share is for it. The one place where such a key is refused as a whole."""
    caller = require_gm(request)
    if caller.campaign:
        raise Forbidden(
            "This is about the whole world: use a key that is bound to no campaign. This one is "
            f"for the campaign {caller.campaign.slug}."
        )
    return caller


def operation_of(request: HttpRequest) -> str:
    """Return the operation id under which this request is counted and audited."""
    return str(getattr(request, "operation", "") or request.path)


def tag(response: HttpResponse, version: int | str | None) -> None:
    """Set the answer's `ETag` to the version of the entity, or to its digest."""
    response["ETag"] = f'"{version}"'


def check_match(request: HttpRequest, version: int | str | None) -> None:
    """Raise `Stale` when the request's `If-Match` names another version than the stored one (None:
    nothing stored)."""
    header = request.headers.get("If-Match")
    if header is None or (header.strip() == "*" and version is not None):
        return
    tags = {tag.strip().removeprefix("W/").strip('"') for tag in header.split(",")}
    if version is None or str(version) not in tags:
        state = "nothing is stored" if version is None else f"version {version} is stored"
        raise Stale(f"If-Match names {header}, but {state}: read it again, then decide.")


@contextmanager
def expecting(
    request: HttpRequest, stored: int | None, *, in_body: int | None = None
) -> Iterator[int | None]:
    """Yield the version that the write has to find: that of `If-Match`, or of the body.

        with expecting(request, rows.values_list("version", flat=True).first()) as version:
            save(row, expected_version=version)

    `stored` was read without a lock. The service compares again with the row that it has locked,
    and its `StaleVersion` (409) becomes `Stale` (412) if the request has `If-Match`."""
    check_match(request, stored)
    header = request.headers.get("If-Match")
    from_header = None if header is None or header.strip() == "*" else stored
    try:
        yield from_header if in_body is None else in_body
    except StaleVersion as problem:
        if from_header is None or problem.version == from_header:
            raise
        raise Stale(problem.detail) from problem


def own_transaction(view: Callable[..., Any]) -> Callable[..., Any]:
    """Mark an endpoint that must not run inside one transaction, because it calls a model."""
    view.own_transaction = True  # type: ignore[attr-defined]
    return view


def wrap_operation(run: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Wrap an operation's `run` (django-ninja's decorator mode "view"): set its name, handle
    `Idempotency-Key`, add the rate limit headers, write the audit row."""
    operation: Operation = run.__self__  # type: ignore[attr-defined]
    name = operation.operation_id or operation.view_func.__name__

    rows = fields_to_choose(operation)
    known = query_parameters(operation) | ({PARAMETER} if rows else frozenset())
    has_body = takes_body(operation)

    @wraps(run)
    def wrapper(request: HttpRequest, **values: Any) -> HttpResponse:
        request.operation, start = name, perf_counter()  # type: ignore[attr-defined]
        token = request.headers.get("Idempotency-Key")
        if unknown := sorted(set(request.GET) - known):
            response = refuse(operation, request, unknown_parameters(unknown, known))
        elif not has_body and is_body_sent(request):
            response = refuse(operation, request, unknown_body(request))
        elif token is None or request.method == "GET" or not operation.auth_callbacks:
            response = run_with_fields(operation, request, rows, partial(run, request, **values))
        else:
            response = run_once(operation, token, request, lambda: run(request, **values))
        if allowance := getattr(request, "allowance", None):
            set_headers(response, {**allowance.headers, **response.headers})
        if name in DEPRECATED:
            set_headers(response, DEPRECATED[name].headers)
        audit_response(request, response, (perf_counter() - start) * 1000)
        return response

    return wrapper


def run_with_fields(
    operation: Operation,
    request: HttpRequest,
    rows: RowFields | None,
    run: Callable[[], HttpResponse],
) -> HttpResponse:
    """Run a read, and leave out of its answer what `fields` does not name."""
    if rows is None or PARAMETER not in request.GET:
        return run()
    try:
        for authenticate in operation.auth_callbacks:
            authenticate(request)
        wanted = chosen_fields(request, rows)
    except Exception as exc:
        return operation.api.on_exception(request, exc)
    response = run()
    if wanted and response.status_code == 200:
        keep_fields(response, rows, wanted)
    return response


def refuse(operation: Operation, request: HttpRequest, why: Invalid) -> HttpResponse:
    """Answer with `why` to those alone who have a key for the operation."""
    try:
        for authenticate in operation.auth_callbacks:
            authenticate(request)
        raise why
    except Exception as exc:
        return operation.api.on_exception(request, exc)


def audit_response(request: HttpRequest, response: HttpResponse, milliseconds: float) -> None:
    """Record the call, unless nobody was authenticated or the toolbox has recorded it."""
    caller: Caller | None = getattr(request, "caller", None)
    if caller is None or getattr(request, "is_audited", False):
        return
    returned = getattr(request, "returned", ())
    audit.record(
        audit.Call(
            operation_of(request),
            "rest",
            caller,
            status=response.status_code,
            code=getattr(response, "problem_code", ""),
            milliseconds=milliseconds,
            row_ids=lambda: returned,
        )
    )


class Refusal(Exception):
    """The operation answered with an error, so that nothing is stored under the idempotency key."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__(response.status_code)
        self.response = response


def run_once(
    operation: Operation, token: str, request: HttpRequest, run: Callable[[], HttpResponse]
) -> HttpResponse:
    """Run the operation unless its key has used `token` before; then replay the stored answer."""

    def write() -> StoredResponse:
        response = run()
        if response.status_code >= 400:
            raise Refusal(response)
        return StoredResponse(response.status_code, response.content, dict(response.items()))

    try:
        for authenticate in operation.auth_callbacks:
            authenticate(request)
        key = key_of(request)
        # The same path means another row in another world, and of another agent.
        scope = [request.headers.get(name, "").encode() for name in ("X-World", "X-Namespace")]
        parts = [str(request.method).encode(), request.get_full_path().encode(), *scope]
        parts.append(content_of(request))
        atomic = not getattr(operation.view_func, "own_transaction", False)
        answer = idempotency.once(key, token, b"\n".join(parts), write, atomic=atomic)
    except Refusal as refusal:
        return refusal.response
    except Exception as exc:
        return operation.api.on_exception(request, exc)
    response = HttpResponse(answer.body, status=answer.status)
    set_headers(response, answer.headers)
    if answer.replayed:
        response["Idempotent-Replayed"] = "true"
    return response


def content_of(request: HttpRequest) -> bytes:
    """Return what tells one request from another: the body, or the fields of a form with digests of
    its files, which may be larger than a body that is read into memory. The body of a form differs
    each time that it is sent, by what separates its fields."""
    if request.method != "POST" or request.content_type != "multipart/form-data":
        return request.body
    files = [
        (name, file.name, digest_of_file(file))
        for name, uploads in sorted(request.FILES.lists())
        for file in uploads
    ]
    return repr((sorted(request.POST.lists()), files)).encode()


def digest_of_file(file: "UploadedFile[Any]") -> str:
    digest = sha256()
    for chunk in file.chunks():
        digest.update(chunk)
    file.seek(0)
    return digest.hexdigest()


def set_headers(response: HttpResponse, headers: Mapping[str, str]) -> None:
    for name, value in headers.items():
        response[name] = value
