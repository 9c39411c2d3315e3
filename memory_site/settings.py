"""All settings of Memory37; docs/settings.md has every name read from the environment."""

import os
import sys
import warnings
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as _

from memory_site.composition import CELERY_BEAT_SCHEDULE as CELERY_BEAT_SCHEDULE
from memory_site.composition import EPISODE_EFFECTS as EPISODE_EFFECTS
from memory_site.composition import EPISODE_FOLLOWERS as EPISODE_FOLLOWERS
from memory_site.composition import INSTALLED_APPS as INSTALLED_APPS
from memory_site.composition import LINK_RESOLVER as LINK_RESOLVER
from memory_site.composition import LINKED_KINDS as LINKED_KINDS
from memory_site.composition import MIDDLEWARE as MIDDLEWARE
from memory_site.env import BASE_DIR, DATA_DIR, RESOURCES, env
from memory_site.logs import logging_config
from memory_site.secret import installation_secret
from memory_site.security import REQUEST_HEADERS, RESPONSE_HEADERS, STRICT
from memory_site.unfold_settings import UNFOLD as UNFOLD
from memory_site.version import VERSION as VERSION

# NumPy reads this when it is imported. The products of vectors here are small: with a second thread
# they take no less time, and on a busy machine a hundred times as long (decision 0161).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

VAR_DIR = Path(env.str("MEMORY37_VAR", default=str(DATA_DIR)))
DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="") or installation_secret(VAR_DIR)
# Former keys, while the secrets made with them are replaced (docs/security.md).
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

# `worlds.browser_origins` decides which web pages on other hosts may call the API.
CORS_ALLOW_HEADERS, CORS_EXPOSE_HEADERS = REQUEST_HEADERS, RESPONSE_HEADERS
ROOT_URLCONF = "memory_site.urls"
ASGI_APPLICATION = "memory_site.asgi.application"
# Requests answered at once; the database pool is smaller.
WEB_THREADS = env.int("WEB_THREADS", default=32)
# Open connections, streams among them; beyond it a request is answered with 503.
WEB_CONNECTIONS = env.int("WEB_CONNECTIONS", default=1000)
# Proxies that are believed about scheme and address of a client (uvicorn's own name for it).
FORWARDED_ALLOW_IPS = env.str("FORWARDED_ALLOW_IPS", default="127.0.0.1")
# Maximum seconds for one bulk write, which holds a thread and the locks of what it wrote.
BULK_SECONDS = env.float("BULK_SECONDS", default=25.0)
WSGI_APPLICATION = "memory_site.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [RESOURCES / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- Database
DATABASE_URL = env.str("DATABASE_URL", default="")
# A pooler in transaction mode stands before the server: nothing may last beyond a transaction.
DATABASE_POOLER = env.bool("DATABASE_POOLER", default=False)
EMBEDDED_DATABASE = env.str("EMBEDDED_DATABASE", default="memory37")
# Maximum seconds for one statement; 0: no limit. `memory_site.web_server` sets 60.
STATEMENT_SECONDS = env.float("STATEMENT_SECONDS", default=0.0)


def statement_limit(seconds: float) -> dict[str, str]:
    """Return the option of a connection whose statements PostgreSQL ends after `seconds`."""
    return {"options": f"-c statement_timeout={int(seconds * 1000)}"} if seconds else {}


def _database() -> dict[str, Any]:
    """Any PostgreSQL by `DATABASE_URL`, else the embedded one under `VAR_DIR`, which the backend
    starts."""
    shared = {
        "ENGINE": "memory_site.database",
        "CONN_MAX_AGE": 0,
        "DISABLE_SERVER_SIDE_CURSORS": DATABASE_POOLER,
        "OPTIONS": {
            # A pooler refuses options of a connection.
            **statement_limit(0 if DATABASE_POOLER else STATEMENT_SECONDS),
            "server_side_binding": True,
            # Not 0: Django's DDL sends several commands at once, which cannot be prepared.
            "prepare_threshold": None if DATABASE_POOLER else 2,
            "pool": {
                "min_size": 1,
                "max_size": env.int("DATABASE_POOL_SIZE", default=10),
                "timeout": 10,
            },
        },
        "TEST": {"NAME": env.str("TEST_DATABASE", default="test_memory37")},
    }
    if DATABASE_URL:
        return {**env.db_url_config(DATABASE_URL), **shared}
    return {**shared, "EMBEDDED": True, "NAME": EMBEDDED_DATABASE, "USER": "memory37"}


# A streaming replica of DATABASE_URL's server for reading; empty: everything goes to the primary.
DATABASE_REPLICA_URL = env.str("DATABASE_REPLICA_URL", default="")


def _replica(primary: dict[str, Any]) -> dict[str, Any]:
    """As the primary, but whoever waits for a connection is sent there soon."""
    options = {**primary["OPTIONS"], "pool": {**primary["OPTIONS"]["pool"], "timeout": 1}}
    address = env.db_url_config(DATABASE_REPLICA_URL)
    own = {"ENGINE": primary["ENGINE"], "OPTIONS": options, "TEST": {"MIRROR": "default"}}
    return {**primary, "EMBEDDED": False, **address, **own}


DATABASES = {"default": _database()}
if DATABASE_REPLICA_URL:
    DATABASES["replica"] = _replica(DATABASES["default"])
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Retrieval
RETRIEVAL_PRESETS: dict[str, dict[str, Any]] = env.json("RETRIEVAL_PRESETS", default={})
# local | onnx | openai | minilm | hashing | the dotted path of a class
EMBEDDER = env.str("EMBEDDER", default="local")
# Packages that hold weights; `make up` installs them there.
MODEL_PACKAGES = env.str("MODEL_PACKAGES", default=str(Path(sys.prefix) / "models"))
# Models that were converted from them.
MODEL_CACHE = env.str("MODEL_CACHE", default=str(VAR_DIR / "models"))
EMBEDDING_MODEL = env.str("EMBEDDING_MODEL", default="text-embedding-3-large")
OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="")
OPENAI_BASE_URL = env.str("OPENAI_BASE_URL", default="")
EMBEDDING_TIMEOUT = env.float("EMBEDDING_TIMEOUT", default=20.0)
EMBEDDING_QUERY_TIMEOUT = env.float("EMBEDDING_QUERY_TIMEOUT", default=4.0)
EMBEDDING_REST = env.float("EMBEDDING_REST", default=5.0)
EMBEDDING_DIMS = env.int("EMBEDDING_DIMS", default=0)  # 0: ask for the width of the domain's preset
# Calls a minute and process; 0: no limit of ours.
EMBEDDING_RPM = env.int("EMBEDDING_RPM", default=0)
EMBEDDING_TPM = env.int("EMBEDDING_TPM", default=0)  # tokens a minute and process
RERANKER = env.str("RERANKER", default="local")  # local | hosted | empty | a dotted path
RERANK_URL = env.str("RERANK_URL", default="")  # the address before /rerank
RERANK_MODEL = env.str("RERANK_MODEL", default="")
RERANK_API_KEY = env.str("RERANK_API_KEY", default="")
# After so many seconds the fused order stands.
RERANK_SECONDS = {
    "fast": env.float("RERANK_FAST_SECONDS", default=1.0),
    "careful": env.float("RERANK_CAREFUL_SECONDS", default=5.0),
}
EMBEDDER_THREADS = env.int("EMBEDDER_THREADS", default=2)
QUERY_CACHE_SIZE = env.int("QUERY_CACHE_SIZE", default=2048)
QUERY_CACHE_SECONDS = env.int("QUERY_CACHE_SECONDS", default=600)
VECTOR_CACHE_DAYS = env.int("VECTOR_CACHE_DAYS", default=90)

# --- Relation graph
GRAPH_TIMEOUT = env.float("GRAPH_TIMEOUT", default=3.0)
# Whether the worker reads entries and episodes for proposals of facts after they were saved.
PROPOSE_AT_SAVE = env.bool("PROPOSE_AT_SAVE", default=True)
# A bolt:// or neo4j:// address; empty: PostgreSQL answers alone.
NEO4J_URL = env.str("NEO4J_URL", default="")
NEO4J_USER = env.str("NEO4J_USER", default="neo4j")
NEO4J_PASSWORD = env.str("NEO4J_PASSWORD", default="")
NEO4J_DATABASE = env.str("NEO4J_DATABASE", default="neo4j")
NEO4J_TIMEOUT = env.float("NEO4J_TIMEOUT", default=3.0)
NEO4J_IN_TOOLS = env.bool("NEO4J_IN_TOOLS", default=True)
NEO4J_BACKOFF = env.float("NEO4J_BACKOFF", default=10.0)

# --- Language model
LLM_MODEL = env.str("LLM_MODEL", default="")  # empty: rule-based text processing
LLM_BASE_URL = env.str("LLM_BASE_URL", default="") or OPENAI_BASE_URL
LLM_API_KEY = env.str("LLM_API_KEY", default="") or OPENAI_API_KEY
LLM_TIMEOUT = env.float("LLM_TIMEOUT", default=60.0)
LLM_MAX_TOKENS = env.int("LLM_MAX_TOKENS", default=2000)
LLM_TEMPERATURE = env.str("LLM_TEMPERATURE", default="")  # empty: the model's own
# Prices per million tokens; when both are 0, no cost is stored.
LLM_PRICE_IN = env.float("LLM_PRICE_IN", default=0.0)
LLM_PRICE_OUT = env.float("LLM_PRICE_OUT", default=0.0)
# Another model of the same server for one purpose; empty: LLM_MODEL.
LLM_MODELS = {
    "reading": env.str("LLM_MODEL_READING", default=""),
    "recap": env.str("LLM_MODEL_RECAP", default=""),
    "memory": env.str("LLM_MODEL_MEMORY", default=""),
    "reflection": env.str("LLM_MODEL_REFLECTION", default=""),
    "checking": env.str("LLM_MODEL_CHECKING", default=""),
}
# Asked when the first one is down; without a server or key of its own it has those of LLM_MODEL.
LLM_FALLBACK_MODEL = env.str("LLM_FALLBACK_MODEL", default="")
LLM_FALLBACK_BASE_URL = env.str("LLM_FALLBACK_BASE_URL", default="")
LLM_FALLBACK_API_KEY = env.str("LLM_FALLBACK_API_KEY", default="")
LLM_REST = env.float("LLM_REST", default=60.0)  # seconds for which a failed model is not asked
# Seconds that the language model may take for one add of agent memory, in all its calls.
MEMORY_MODEL_SECONDS = env.float("MEMORY_MODEL_SECONDS", default=90.0)
LLM_PROMPT_TOKENS = env.int("LLM_PROMPT_TOKENS", default=6000)  # of the material of one prompt
LLM_CACHE_SECONDS = env.int("LLM_CACHE_SECONDS", default=3600)
# What may be spent in 24 hours, by the installation and by one world; 0: no limit.
LLM_DAILY_TOKENS = env.int("LLM_DAILY_TOKENS", default=0)
LLM_DAILY_TOKENS_PER_WORLD = env.int("LLM_DAILY_TOKENS_PER_WORLD", default=0)
LLM_DAILY_COST = env.float("LLM_DAILY_COST", default=0.0)
LLM_DAILY_COST_PER_WORLD = env.float("LLM_DAILY_COST_PER_WORLD", default=0.0)

# --- Threads, memories, events, dispositions
THREAD_DAYS = env.int("THREAD_DAYS", default=14)  # after the last step a thread expires
# Steps of closed threads are deleted after so many days.
THREAD_KEEP_DAYS = env.int("THREAD_KEEP_DAYS", default=30)
# The allowance of a namespace is refilled at this rate.
MEMORY_EVENTS_PER_SECOND = env.float("MEMORY_EVENTS_PER_SECOND", default=50.0)
MEMORY_EVENTS_BURST = env.float("MEMORY_EVENTS_BURST", default=5000.0)  # and so many at once
# Years of the world's calendar for which NPCs remember what changed nothing for them; 0: for ever.
NPC_MEMORY_YEARS = env.float("NPC_MEMORY_YEARS", default=3.0)
AUDIT_DAYS = env.int("AUDIT_DAYS", default=90)  # audited calls are deleted after; 0: never
# Days for which a repeated write with the same idempotency key gets the stored answer.
IDEMPOTENCY_DAYS = env.int("IDEMPOTENCY_DAYS", default=1)
EVENT_DAYS = env.int("EVENT_DAYS", default=30)  # events are deleted after; 0: never
EVENT_STREAMS_PER_KEY = env.int("EVENT_STREAMS_PER_KEY", default=20)
EVENT_STREAMS = env.int("EVENT_STREAMS", default=500)
WEBHOOK_PRIVATE_ADDRESSES = env.list("WEBHOOK_PRIVATE_ADDRESSES", default=[])
WEBHOOK_TIMEOUT = env.float("WEBHOOK_TIMEOUT", default=15.0)  # seconds of an attempt
WEBHOOK_RETRY_DAYS = env.float("WEBHOOK_RETRY_DAYS", default=3.0)
WEBHOOK_DISABLE_DAYS = env.float("WEBHOOK_DISABLE_DAYS", default=5.0)
WEBHOOK_LOG_DAYS = env.float("WEBHOOK_LOG_DAYS", default=30.0)
WEBHOOK_THREADS = env.int("WEBHOOK_THREADS", default=4)
DISPOSITION_HOLD_AT = env.int("DISPOSITION_HOLD_AT", default=40)
DISPOSITION_HOLD_AT_SESSION = env.int("DISPOSITION_HOLD_AT_SESSION", default=60)
# In-world days; 0: dispositions do not decay.
DISPOSITION_HALF_LIFE = env.float("DISPOSITION_HALF_LIFE", default=0.0)

# --- Worker
CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", default="")  # empty: pgmq on the same database
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 16  # pgmq hands out one message per poll otherwise
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker outlives any failure of the broker
CELERY_BROKER_CONNECTION_TIMEOUT = 2.0
# Somebody waits for the answer of the request that sends a task.
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0.1, "interval_max": 0.1}
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULER = "memory_site.scheduler:Scheduler"

# --- Security
CONTENT_SECURITY_POLICY = {"DIRECTIVES": STRICT}
# Set when the site is served over TLS (by itself or by a proxy in front).
HTTPS = env.bool("HTTPS", default=False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
# Whether hosts under ours use TLS too, and whether browsers may list them, is for the owner of the
# domain to say, by a header of the proxy.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "memory_site.error_pages.csrf_failure"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
    "worlds.roles.RoleBackend",
]
AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"

# --- Second factor and identity provider (django-allauth)
# The address of an OpenID Connect provider; empty: people sign in with passwords alone.
OIDC_SERVER_URL = env.str("OIDC_SERVER_URL", default="")
OIDC_NAME = env.str("OIDC_NAME", default="OpenID")
OIDC_CLIENT_ID = env.str("OIDC_CLIENT_ID", default="")
OIDC_CLIENT_SECRET = env.str("OIDC_CLIENT_SECRET", default="")
OIDC_CREATE_USERS = env.bool("OIDC_CREATE_USERS", default=True)
ACCOUNT_ADAPTER = "memory_site.sign_in.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = False
ACCOUNT_UNIQUE_EMAIL = False
MFA_ADAPTER = "memory_site.sign_in.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
# A code that was typed as its half minute ended still counts, as RFC 6238 recommends.
MFA_TOTP_TOLERANCE = 1
SOCIALACCOUNT_ADAPTER = "memory_site.sign_in.ProviderAdapter"
SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "oidc",
                "name": OIDC_NAME,
                "client_id": OIDC_CLIENT_ID,
                "secret": OIDC_CLIENT_SECRET,
                "settings": {"server_url": OIDC_SERVER_URL},
            }
        ]
        if OIDC_SERVER_URL
        else [],
    }
}

# --- Clients
# For `manage.py mcp` and the Python client.
MEMORY37_API_KEY = env.str("MEMORY37_API_KEY", default="")
MEMORY37_WORLD = env.str("MEMORY37_WORLD", default="")  # for a key of the whole installation
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024  # larger bodies are answered with 413
# The admin asks whether thousands of rows are to be deleted with a field for each.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 50_000

# --- Telemetry
METRICS = env.bool("METRICS", default=False)  # Prometheus text at /metrics
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
OTEL_EXPORTER_OTLP_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", default="").rstrip("/")
OTEL_SERVICE_NAME = env.str("OTEL_SERVICE_NAME", default="memory37")
LOGGING = logging_config(
    env.str("LOG_FORMAT", default="text"), env.str("LOG_LEVEL", default="WARNING")
)

# --- Users, languages, files
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    )
]
LANGUAGE_CODE = env.str("LANGUAGE_CODE", default="en")
LANGUAGES = [("en", _("English")), ("ru", _("Russian")), ("ko", _("Korean"))]
LOCALE_PATHS = [BASE_DIR / "memory_site" / "locale"]
FORMAT_MODULE_PATH = ["memory_site.formats"]
LOGIN_URL, LOGIN_REDIRECT_URL, LOGOUT_REDIRECT_URL = "login", "worlds", "login"
# --- E-mail: only for links that set a new password
EMAIL_HOST = env.str("EMAIL_HOST", default="")
EMAIL_PORT = env.int("EMAIL_PORT", default=587)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", default="")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", default="")
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", default=True)
EMAIL_TIMEOUT = 10
# Without a server the mail goes to the output, but not where others reach the site: whoever reads
# the log there could set the password of anybody.
_MAIL_TO = "smtp" if EMAIL_HOST else "dummy" if HTTPS else "console"
EMAIL_BACKEND = f"django.core.mail.backends.{_MAIL_TO}.EmailBackend"
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="memory37@localhost")

TIME_ZONE = "UTC"
USE_TZ = True
# --- Pictures
PICTURE_STORAGE = env.str("PICTURE_STORAGE", default="local")  # local | s3
# Of the local storage. No web server may serve this folder: the site decides who sees a picture.
MEDIA_ROOT = Path(env.str("MEDIA_ROOT", default=str(VAR_DIR / "media")))
S3_BUCKET = env.str("S3_BUCKET", default="")
S3_PREFIX = env.str("S3_PREFIX", default="")
S3_ENDPOINT_URL = env.str("S3_ENDPOINT_URL", default="")  # empty: Amazon's own
S3_REGION = env.str("S3_REGION", default="")
# Without them boto3 looks where it always does: environment, profile, role of the machine.
S3_ACCESS_KEY = env.str("S3_ACCESS_KEY", default="")
S3_SECRET_KEY = env.str("S3_SECRET_KEY", default="")
PICTURE_KEEP_DAYS = env.int("PICTURE_KEEP_DAYS", default=30)
# Days for which an archive of a world can be downloaded, or restored after its upload.
ARCHIVE_KEEP_DAYS = env.int("ARCHIVE_KEEP_DAYS", default=7)
UPLOAD_MAX_MB = env.int("UPLOAD_MAX_MB", default=200)  # larger requests are refused unread


def _storages() -> dict[str, Any]:
    static = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    if PICTURE_STORAGE != "s3":
        local = {"BACKEND": "django.core.files.storage.FileSystemStorage"}
        return {"default": local, "staticfiles": static}
    options = {
        "bucket_name": S3_BUCKET,
        "location": S3_PREFIX,
        "endpoint_url": S3_ENDPOINT_URL or None,
        "region_name": S3_REGION or None,
        "access_key": S3_ACCESS_KEY or None,
        "secret_key": S3_SECRET_KEY or None,
        "default_acl": None,
        "file_overwrite": False,
    }
    s3 = {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}
    return {"default": s3, "staticfiles": static}


STORAGES = _storages()
STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "staticfiles"
STATICFILES_DIRS = [RESOURCES / "static"]
WHITENOISE_USE_FINDERS = True  # so that no collectstatic has to be run before the first start
# The folder is there only where `collectstatic` was run, so whitenoise need not warn at each start.
warnings.filterwarnings("ignore", r"No directory at: .*staticfiles", UserWarning)
