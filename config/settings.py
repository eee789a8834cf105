"""Every setting of the service, in one file; docs/operations.md explains the environment variables it reads."""

import hmac
import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from corsheaders.defaults import default_headers
from django.templatetags.static import static
from redis.backoff import NoBackoff
from redis.retry import Retry

from config import env, timetable
from config.logging import LEVELS, configure_structlog, logging_config

BASE_DIR = Path(__file__).resolve().parent.parent
env.read_dotenv(BASE_DIR / ".env")
VAR_DIR = env.folder("VAR_DIR", BASE_DIR / "var")

# Addresses and secrets
DEBUG = env.boolean("DEBUG", False)
SECRET_KEY = env.secret_key(VAR_DIR / "secret-key")
PORT = env.integer("PORT", 8000, at_least=1, at_most=65535)
WEB_HOST = env.text("WEB_HOST", "127.0.0.1")
CORES = os.cpu_count() or 1
WEB_WORKERS = env.integer("WEB_WORKERS", CORES, at_least=1)
WORKER_CONCURRENCY = env.integer("WORKER_CONCURRENCY", CORES, at_least=1)
BASE_URL = env.address("BASE_URL", f"http://127.0.0.1:{PORT}/v1")
APP_URL = env.address("APP_URL", f"http://127.0.0.1:{PORT}")
ALLOWED_HOSTS = [*env.words("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]"), urlsplit(BASE_URL).hostname or ""]
SERVED_OVER_TLS = BASE_URL.startswith("https:")

# Logs and metrics
LOGGING = logging_config(env.choice("LOG_LEVEL", "INFO", among=LEVELS))
configure_structlog()
METRICS_TOKEN = env.text("METRICS_TOKEN")
METRICS_DIR = VAR_DIR / "metrics"
METRICS_DIR.mkdir(exist_ok=True)
# prometheus_client reads this when it is imported: every web process counts into a file of its own.
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(METRICS_DIR)

# Applications
INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "corsheaders",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "config",
    "accounts",
    "accounts.providers.codehost1",
    "accounts.providers.idp2",
    "organizations",
    "credits",
    "billing",
    "analysis",
    "webhooks",
]
MIDDLEWARE = [
    "config.middleware.UnreadBodyMiddleware",
    "config.operations.middleware.OperationsMiddleware",
    "config.middleware.RequestIdMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "config.middleware.ProtectiveHeadersMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.RateLimitHeadersMiddleware",
    "config.api.conditional.ConditionalGetMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
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
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Database: SQLite in WAL without set-up, PostgreSQL by DATABASE_URL
DATABASES = {"default": env.database("DATABASE_URL", f"sqlite:///{VAR_DIR / 'db.sqlite3'}")}
ON_SQLITE = DATABASES["default"]["ENGINE"].endswith("sqlite3")
DATABASES["default"]["CONN_MAX_AGE"] = 60
if ON_SQLITE:
    DATABASES["default"]["ENGINE"] = "config.sqlite"
    # IMMEDIATE takes the write lock at once: a read that later writes would otherwise fail with "database is locked".
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;",
    }
    DATABASES["default"]["TEST"] = {"NAME": VAR_DIR / "test.sqlite3"}
else:
    DATABASES["default"]["ENGINE"] = "config.postgresql"
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # What the address asks for goes first: `sslmode=require` must not be lost.
    asked = DATABASES["default"].get("OPTIONS", {})
    limits = "-c lock_timeout=10s -c statement_timeout=60s -c idle_in_transaction_session_timeout=60s"
    DATABASES["default"]["OPTIONS"] = {
        "connect_timeout": 5,
        # A query that comes again is prepared once for its connection: to plan it takes longer than to run it.
        "server_side_binding": True,
        "prepare_threshold": 5,
        **asked,
        "options": f"{limits} {asked.get('options', '')}".rstrip(),
    }

# Cache and broker: embedded without set-up, Redis by REDIS_URL
REDIS_URL = env.redis("REDIS_URL")
if REDIS_URL:
    CACHES: dict[str, dict[str, Any]] = {
        "default": {
            "BACKEND": "config.redis_cache.RedisCache",
            "LOCATION": REDIS_URL,
            "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
        },
        # A Redis that is away must cost a request nothing: one quick try, then SQL counts.
        "hints": {
            "BACKEND": "config.redis_cache.RedisCache",
            "LOCATION": REDIS_URL,
            "OPTIONS": {"retry": Retry(NoBackoff(), 0), "socket_connect_timeout": 0.5, "socket_timeout": 0.5},
        },
        "answers": {
            "BACKEND": "config.redis_cache.RedisCache",
            "LOCATION": REDIS_URL,
            "OPTIONS": {"retry": Retry(NoBackoff(), 0), "socket_connect_timeout": 0.5, "socket_timeout": 0.5},
        },
        "counters": {
            "BACKEND": "accounts.counters.CounterCache",
            "LOCATION": REDIS_URL,
            "OPTIONS": {"retry": Retry(NoBackoff(), 0), "socket_connect_timeout": 0.5, "socket_timeout": 0.5},
        },
    }
    CELERY_BROKER_URL = REDIS_URL
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {
        "visibility_timeout": 3600,
        "unacked_restore_throttle": 1,
        # A message is a hint: a Redis that refuses or hangs may cost a request a second or two, not minutes.
        "socket_connect_timeout": 1,
        "socket_timeout": 2,
        "max_retries": 0,
    }
else:
    BROKER_DIR = VAR_DIR / "broker"
    (BROKER_DIR / "queue").mkdir(parents=True, exist_ok=True)
    CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
        "hints": {
            "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
            "LOCATION": BROKER_DIR / "hints",
        },
        "answers": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "answers"},
        "counters": {"BACKEND": "accounts.counters.CounterCache"},
    }
    CELERY_BROKER_URL = "files://localhost"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(BROKER_DIR / "queue"),
        "data_folder_out": str(BROKER_DIR / "queue"),
        "control_folder": str(BROKER_DIR / "control"),
        "polling_interval": 0.1,
    }

if ON_SQLITE:
    # Beside the database: a count would otherwise wait for every long transaction.
    CACHES["counters"].setdefault("OPTIONS", {})["file"] = VAR_DIR / "counters.sqlite3"

# Background work: the database row is the truth, a message only a hint that may be lost or come twice
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 200
CELERY_DB_REUSE_MAX = CELERY_WORKER_MAX_TASKS_PER_CHILD  # a new connection takes the database longer than most tasks
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# A process that starts slowly on a busy machine would be killed at work after four seconds, the default.
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 60
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # for as long as the broker is away
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULE = timetable.TASKS
# Scans and pull requests have workers of their own (config.processes): a long scan delays no verdict and no event.
CELERY_TASK_ROUTES = {
    "analysis.tasks.scan_next": {"queue": "scans"},
    "analysis.tasks.judge_next": {"queue": "pull_requests"},
}

# How long rows stay, and what from. Ledger, payments and what is open stay for good (docs/scaling.md).
MOST_DAYS = 36_500
RETENTION = {
    name: timedelta(days=env.integer(f"KEEP_{name.upper()}_DAYS", days, at_least=1, at_most=MOST_DAYS))
    for name, days in {
        "webhook_bodies": 30,  # since the event was worked off
        "webhook_events": 90,
        "runs": 180,  # with the figures of their reports; the documents of a superseded report go after an hour
        "resolved_violations": 365,  # since they were resolved
        "snapshots": 730,
        "standings": 120,  # what the change of a day's scores is explained by
        "facts": 90,  # since a scan used them; those of each repository's last scan stay
        "publications": 180,  # on pull requests that are closed
        "audit": 730,
        "invitations": 180,  # that were accepted, cancelled or have expired
        "reservations": 90,  # of credits, settled or given back
        "sessions": 30,  # since their tokens expired
        "letters": 30,
    }.items()
}

# Time and language
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
FORMAT_MODULE_PATH = ["config.formats"]

# The API
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.SessionTokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["config.api.rates.TableThrottle"],
    "DEFAULT_PARSER_CLASSES": ["config.api.parsing.SafeJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["config.api.rendering.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "config.api.schema.Schema",
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "config.api.rendering.AlwaysTheFirst",
    "EXCEPTION_HANDLER": "config.api.errors.handle",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
TRUSTED_PROXY_COUNT = env.integer("TRUSTED_PROXY_COUNT", 0)
RATELIMIT_ENABLE = env.boolean("RATELIMIT_ENABLE", True)
RATELIMIT_USE_CACHE = "counters"
SILENCED_SYSTEM_CHECKS = [
    "django_ratelimit.E003",  # knows only the caches of Django; ours counts atomically
    "django_ratelimit.W001",
    "security.W005",  # whether other hosts of the domain speak TLS is for their owner to say
    "security.W008",  # the proxy redirects; an API that redirects has already leaked the token
    "security.W021",
]
APP_ORIGIN = "{0.scheme}://{0.netloc}".format(urlsplit(APP_URL))
CORS_ALLOWED_ORIGINS = env.words("CORS_ALLOWED_ORIGINS", APP_ORIGIN)
CORS_URLS_REGEX = r"^/v1/.*$"
CORS_ALLOW_HEADERS = [*default_headers, "if-match", "if-none-match", "x-request-id"]
CORS_EXPOSE_HEADERS = [
    "ETag",
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "Retry-After",
    "X-Request-Id",
]
CSRF_TRUSTED_ORIGINS = [APP_ORIGIN]

# Accounts
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = ["accounts.passwords.Hasher"]
AUTH_PASSWORD_VALIDATORS = [{"NAME": "accounts.passwords.CharacterValidator"}]
ACCESS_LIFETIME = timedelta(minutes=15)
REFRESH_LIFETIME = timedelta(days=7)
REFRESH_REUSE_GRACE = timedelta(seconds=env.integer("REFRESH_REUSE_GRACE_SECONDS", 0))
SIMPLE_JWT = {
    # A key of its own, derived: a signature made for anything else is worth nothing here.
    "SIGNING_KEY": hmac.digest(SECRET_KEY.encode(), b"access and refresh tokens", "sha256").hex(),
    "ACCESS_TOKEN_LIFETIME": ACCESS_LIFETIME,
    "REFRESH_TOKEN_LIFETIME": REFRESH_LIFETIME,
    "ALGORITHM": "HS256",
    "USER_ID_CLAIM": "sub",
    "TOKEN_TYPE_CLAIM": "type",
    "JTI_CLAIM": "jti",
}
SOCIALACCOUNT_ADAPTER = "accounts.adapters.SignInAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = True
SOCIALACCOUNT_QUERY_EMAIL = True
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"

# Mail
EMAIL_FROM = env.text("EMAIL_FROM", "Technical Debt <no-reply@localhost>")
DEFAULT_FROM_EMAIL = SERVER_EMAIL = EMAIL_FROM
EMAIL_TIMEOUT = 10
MAIL_SERVER = env.mail("EMAIL_URL")
if MAIL_SERVER:
    globals().update(MAIL_SERVER)
else:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    EMAIL_FILE_PATH = VAR_DIR / "mail"

# Analysis
WORKSPACE_DIR = env.folder("WORKSPACE_DIR", VAR_DIR / "workspace")
# Whoever works in this folder is one machine to the others.
WORKSPACE_ID = env.identity(WORKSPACE_DIR / "id")
# A scan with more to parse than this asks other machines for help.
SHARED_SCAN_BYTES = env.integer("SHARED_SCAN_KB", 8000, at_least=1) * 1000
# Clones above this are removed, the longest unused first.
CLONE_CACHE_BYTES = env.integer("CLONE_CACHE_MB", 20_480, at_least=0) * 2**20
CLONE_ALLOWED_SCHEMES = env.words("CLONE_ALLOWED_SCHEMES", "https")
CLONE_ALLOWED_HOSTS = env.words("CLONE_ALLOWED_HOSTS")
CLONE_ALLOW_PRIVATE_ADDRESSES = env.boolean("CLONE_ALLOW_PRIVATE_ADDRESSES", False)
FIRST_SCAN_TIMEOUT = timedelta(milliseconds=env.integer("FIRST_SCAN_TIMEOUT_MS", 900_000, at_least=1))
PR_ANALYSIS_TIMEOUT = timedelta(milliseconds=env.integer("PR_ANALYSIS_TIMEOUT_MS", 30_000, at_least=1))
# The process that judges pull requests remembers the last repository for so long, up to that size; 500,000 lines take
# about 330 MB.
PR_MEMORY_IDLE = timedelta(seconds=env.integer("PR_MEMORY_IDLE_SECONDS", 600, at_least=0))
PR_MEMORY_BYTES = env.integer("PR_MEMORY_MB", 768, at_least=0) * 2**20
# A run whose worker has not renewed its lease for this long is taken over by another one.
RUN_LEASE = timedelta(seconds=env.integer("RUN_LEASE_SECONDS", 30, at_least=2))
# Analyses that may run at once, over all workers; one organization gets at most half of them.
RUN_SLOTS = env.integer("RUN_SLOTS", 2 * WORKER_CONCURRENCY, at_least=1)
# How often a code host is asked for the open pull requests of each repository, to find what no event told.
PULL_REQUEST_POLL_INTERVAL = timedelta(seconds=env.integer("PULL_REQUEST_POLL_SECONDS", 300, at_least=10))
# Days of history that the first scan fills with one snapshot a day; 0 means the whole history.
HISTORY_DAYS = env.integer("HISTORY_DAYS", 90, at_most=MOST_DAYS)

# Providers: each is off until its variables are set
SOLD = [f"{plan}_{cycle}" for plan in ("solo", "pro", "team", "enterprise") for cycle in ("monthly", "annual")]
CARDPAY_API_URL = env.address("CARDPAY_API_URL")
CARDPAY_SECRET_KEY = env.text("CARDPAY_SECRET_KEY")
CARDPAY_WEBHOOK_SECRETS = env.words("CARDPAY_WEBHOOK_SECRET")
CARDPAY_WEBHOOK_TOLERANCE_SECONDS = env.integer("CARDPAY_WEBHOOK_TOLERANCE_SECONDS", 300, at_least=1)
CARDPAY_PRICES = env.price_ids("CARDPAY_PRICES", sold=SOLD)
WALLETPAY_API_URL = env.address("WALLETPAY_API_URL")
WALLETPAY_CLIENT_ID = env.text("WALLETPAY_CLIENT_ID")
WALLETPAY_CLIENT_SECRET = env.text("WALLETPAY_CLIENT_SECRET")
WALLETPAY_WEBHOOK_ID = env.text("WALLETPAY_WEBHOOK_ID")
WALLETPAY_PLANS = env.price_ids("WALLETPAY_PLANS", sold=SOLD)
# The header that makes a call safe to repeat: the neutral name, and what the provider itself calls it. Both are sent.
WALLETPAY_KEY_HEADERS = ["Walletpay-Request-Id", "PayPal-Request-Id"]
CODEHOST1_URL = env.address("CODEHOST1_URL")
CODEHOST1_API_URL = env.address("CODEHOST1_API_URL")
CODEHOST1_CLIENT_ID = env.text("CODEHOST1_CLIENT_ID")
CODEHOST1_CLIENT_SECRET = env.text("CODEHOST1_CLIENT_SECRET")
CODEHOST1_SCOPES = env.words("CODEHOST1_SCOPES", "read:user,user:email")
CODEHOST1_APP_ID = env.text("CODEHOST1_APP_ID")
CODEHOST1_PRIVATE_KEY = env.text("CODEHOST1_PRIVATE_KEY")
CODEHOST1_WEBHOOK_SECRET = env.text("CODEHOST1_WEBHOOK_SECRET")
CODEHOST2_URL = env.address("CODEHOST2_URL")
CODEHOST2_API_URL = env.address("CODEHOST2_API_URL")
CODEHOST2_TOKEN = env.text("CODEHOST2_TOKEN")
CODEHOST2_WEBHOOK_TOKEN = env.text("CODEHOST2_WEBHOOK_TOKEN")
# The organizations, by id, that the token is lent to; none named: to all.
CODEHOST2_ORGANIZATIONS = env.words("CODEHOST2_ORGANIZATIONS")
IDP2_ISSUER = env.address("IDP2_ISSUER")
IDP2_CLIENT_ID = env.text("IDP2_CLIENT_ID")
IDP2_CLIENT_SECRET = env.text("IDP2_CLIENT_SECRET")
AI_BASE_URL = env.address("AI_BASE_URL")
AI_API_KEY = env.text("AI_API_KEY")
AI_MODEL = env.text("AI_MODEL")
AI_TIMEOUT_SECONDS = env.integer("AI_TIMEOUT_SECONDS", 60, at_least=1)
# A call holds a thread of the web server: with Redis a process has two of them, else eight (config.processes).
AI_CALLS_AT_ONCE = env.integer("AI_CALLS_AT_ONCE", 1 if REDIS_URL else 4, at_least=1)

# Webhook headers: the neutral name, and what the providers themselves call it. Both are taken.
WEBHOOK_HEADERS = {
    "cardpay-signature": ["Stripe-Signature"],
    "walletpay-transmission-id": ["Paypal-Transmission-Id"],
    "walletpay-transmission-time": ["Paypal-Transmission-Time"],
    "walletpay-transmission-sig": ["Paypal-Transmission-Sig"],
    "walletpay-cert-url": ["Paypal-Cert-Url"],
    "walletpay-auth-algo": ["Paypal-Auth-Algo"],
    "codehost1-event": ["X-GitHub-Event"],
    "codehost1-delivery": ["X-GitHub-Delivery"],
    "codehost1-signature-256": ["X-Hub-Signature-256"],
    "codehost2-event": ["X-Gitlab-Event"],
    "codehost2-event-uuid": ["X-Gitlab-Event-UUID"],
    "codehost2-token": ["X-Gitlab-Token"],
}

# Static files and the browser's protection
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = Path(env.text("STATIC_ROOT", str(VAR_DIR / "static")))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SERVED_OVER_TLS
if SERVED_OVER_TLS:
    # Browsers take a cookie of such a name over TLS alone, and from this very host.
    SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = "__Host-sessionid", "__Host-csrftoken"
SECURE_HSTS_SECONDS = 31_536_000 if SERVED_OVER_TLS else 0
# TLS ends at a proxy, which also redirects. What it says of the client's connection is believed of our proxies only.
if TRUSTED_PROXY_COUNT:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 25 * 1024 * 1024

# The staff's pages
LOGIN_REDIRECT_URL = "/admin/"
UNFOLD = {
    "SITE_TITLE": "Technical debt, staff",
    "SITE_HEADER": "Technical debt",
    "SITE_SUBHEADER": "Staff",
    "SITE_SYMBOL": "monitoring",
    "SITE_URL": APP_URL,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": lambda _: static("dashboard/icon.svg")}],
    "DASHBOARD_CALLBACK": "config.operations.start_page.fill",
    "SIDEBAR": {"show_search": True, "navigation": "config.operations.navigation.groups"},
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Technical-debt analysis",
    "DESCRIPTION": "Scans git repositories for technical debt and serves the results.\n\n"
    "Reads carry an `ETag`: sent back as `If-None-Match` it is answered with 304 and no body while nothing has "
    "changed. Every counted answer says in `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` "
    "(seconds) where the caller stands; 429 adds `Retry-After`.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "docExpansion": "list", "filter": True, "validatorUrl": None},
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/v1",
    "SCHEMA_PATH_PREFIX_TRIM": True,
    "SERVERS": [{"url": BASE_URL}],
    "ENUM_NAME_OVERRIDES": {
        "Role": "organizations.models.Role",
        "GrantableRole": "organizations.models.GRANTABLE_ROLES",
        "PaymentProviderName": "billing.models.PaymentProvider",
        "BillingCycle": "billing.models.BillingCycle",
        "SubscriptionStatus": "billing.models.SubscriptionStatus",
        "CreditOperation": "credits.models.Operation",
        "CreditEntryType": "credits.models.EntryType",
        "Platform": "analysis.models.Platform",
        "PlanId": "organizations.models.PLAN_IDS",
        "PaidPlanId": "billing.serializers.PAID_PLANS",
        "InvitationStatus": "organizations.models.InvitationStatus",
        "AccountProvider": "accounts.models.SignInProvider",
        "AiOperation": "credits.models.AI_OPERATIONS",
        "RunKind": "analysis.models.RunKind",
        "RunStatus": "analysis.models.RunStatus",
        "ViolationCategory": "analysis.serializers.CATEGORIES",
        "Severity": "analysis.serializers.SEVERITIES",
        "Confidence": "analysis.serializers.CONFIDENCES",
        "ViolationSource": "analysis.models.ViolationSource",
        "ViolationStatus": "analysis.models.ViolationStatus",
        "GateAction": "analysis.serializers.GATE_ACTIONS",
        "GateResult": "analysis.serializers.GATE_RESULTS",
        "TableVolume": "analysis.serializers.VOLUMES",
        "ProductionRisk": "analysis.serializers.PRODUCTION_RISKS",
    },
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "GET_LIB_DOC_EXCLUDES": "config.api.schema.documented_elsewhere",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.api.schema.complete",
    ],
}
