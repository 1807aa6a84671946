"""All settings, in one file. What may differ between two installations comes from the environment (`env.py`)."""

import os
import sys
from pathlib import Path
from typing import Any

import structlog
from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvValidationError, validate

from chat import conf
from chat.providers import endpoints

from . import env as environment
from . import reference, words

BASE = Path(__file__).resolve().parent.parent

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
PUBLIC_ORIGIN = _public_host = ""
_email: dict[str, str | int | bool] = {}
_oidc: dict[str, Any] | None = None
_database: dict[str, Any] = {}

faults = environment.read_files(os.environ)
env = Env(eager=False)

DEBUG = env.bool("GYMNASIA_DEBUG", default=False)
_data = env.str("GYMNASIA_DATA", default=str(BASE / "var"))
_hosts = env.list("GYMNASIA_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
_public_url = env.str("GYMNASIA_PUBLIC_URL", default="")
_behind_proxy = env.bool("GYMNASIA_BEHIND_PROXY", default=False)
_database_url = env.str("DATABASE_URL", default="")
_email_url = env.str("EMAIL_URL", default="")
_log_level = env.str("GYMNASIA_LOG_LEVEL", default="INFO", validate=validate.OneOf(LEVELS))
SYSTEM_PROMPT = env.str("GYMNASIA_SYSTEM_PROMPT", default="")
MATERIAL = env.str("GYMNASIA_MATERIAL", default="")
_signup_rate = env.str(
    "GYMNASIA_SIGNUP_RATE", default="20/m/ip", validate=validate.Regexp(r"\d+/\d*[smhd]/ip")
)
_oidc_url = env.str("GYMNASIA_OIDC_URL", default="")
_oidc_id = env.str("GYMNASIA_OIDC_ID", default="")
_oidc_secret = env.str("GYMNASIA_OIDC_SECRET", default="")
_oidc_name = env.str("GYMNASIA_OIDC_NAME", default="")
LOCAL_MODEL = env.bool("GYMNASIA_LOCAL_MODEL", default=True)
try:
    env.seal()
except EnvValidationError as error:
    named = dict(error.error_messages) if isinstance(error.error_messages, dict) else {}
    # What may be a secret, or hold one, is not repeated.
    got = {
        name: "" if name in environment.FILE_NAMES else f" Got {os.environ.get(name)!r}." for name in named
    }
    faults += [f"{name}: {' '.join(texts)}{got[name]}" for name, texts in named.items()]
try:
    GYMNASIA = conf.load(os.environ)
except conf.ConfError as error:
    faults += str(error).splitlines()
try:
    _database = environment.database(_database_url, data=Path(_data or BASE / "var"))
except ValueError as error:
    faults.append(f"DATABASE_URL: {error}")
try:
    PUBLIC_ORIGIN, _public_host = environment.public_origin(_public_url) if _public_url else ("", "")
except ValueError as error:
    faults.append(f"GYMNASIA_PUBLIC_URL: {error}")
try:
    _email = environment.email_settings(_email_url) if _email_url else {}
except ValueError as error:
    faults.append(f"EMAIL_URL: {error}")
try:
    _oidc = environment.oidc_app(_oidc_url, _oidc_id, _oidc_secret, _oidc_name)
except ValueError as error:
    faults.append(str(error))
try:
    # Without the files: they were read above, and one that cannot be read is told once.
    endpoints.available({name: text for name, text in os.environ.items() if not name.endswith("_FILE")})
except endpoints.BadEndpointError as error:
    faults.append(str(error))
if faults:
    raise ImproperlyConfigured("\n".join(faults))

ODDITIES = reference.oddities(os.environ)
DATA = Path(_data)
SECRET_KEY = environment.secret_key(os.environ, DATA)

# --- Addresses and transport security -----------------------------------------------------------------------------
# A server without a public address is for this machine's loopback only, in plain HTTP: secure cookies would lock every
# client but browsers out. With https in the public address everything is strict (docs/decisions/0003).
_https = PUBLIC_ORIGIN.startswith("https://")
ALLOWED_HOSTS = [*_hosts, *([_public_host] if _public_host else [])]
CSRF_TRUSTED_ORIGINS = [PUBLIC_ORIGIN] if PUBLIC_ORIGIN else []
SECURE_SSL_REDIRECT = _https
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _https and _behind_proxy else None
SECURE_HSTS_SECONDS = 31_536_000 if _https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = _https
SECURE_HSTS_PRELOAD = _https
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = _https
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "chat.views.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF, *environment.origin_of(_oidc_url)],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

# --- Applications ---------------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "chat",  # first: its templates dress the account pages
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "csp",
    "django_structlog",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "chat.compression.CompressPages",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "chat.views.signed_out.KeepTextMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "chat.requests.no_such_place",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "chat.views.pacing.PaceMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
]
ROOT_URLCONF = "gymnasia.urls"
ASGI_APPLICATION = "gymnasia.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ]
        },
    }
]

# --- Database -------------------------------------------------------------------------------------------------------
DATABASES = {"default": _database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Accounts -------------------------------------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "chat:home"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*" if _email else "email", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if _email else "none"
ACCOUNT_RATE_LIMITS = {"signup": _signup_rate}  # the other limits stay allauth's own
ACCOUNT_ADAPTER = "chat.accounts.adapter.Adapter"
ACCOUNT_FORMS = {"login": "chat.accounts.forms.LoginForm", "signup": "chat.accounts.forms.SignupForm"}
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_CHANGE_EMAIL = True  # one address each; a new one takes its place once it is confirmed
ACCOUNT_MAX_EMAIL_ADDRESSES = 2
ACCOUNT_EMAIL_NOTIFICATIONS = bool(_email)
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if _https else "http"
# A second step beside the password, and keys that need no password at all. Browsers make keys for https and localhost only;
# what they sign holds the site's name, so a page of another site cannot use them.
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not _https
MFA_ALLOW_UNVERIFIED_EMAIL = not _email  # where no mail is sent no address can be confirmed
MFA_TOTP_ISSUER = "Gymnasia"
MFA_TOTP_TOLERANCE = 1  # a clock that is half a minute off
# Somebody else's sign-in, by configuration. Addresses are never a reason to open an account that has a password.
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [_oidc]}} if _oidc else {}
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
SOCIALACCOUNT_STORE_TOKENS = False
# Without a mail server no mail is sent, and none is logged either: a reset link in a log opens somebody's account.
SENDS_MAIL = bool(_email)
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
vars().update(_email)

# --- Language, time, files ------------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = words.offered()
FORMAT_MODULE_PATH = "gymnasia.formats"
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "static/"
STATIC_ROOT = DATA / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG or "pytest" in sys.modules
        else "chat.collected.CollectedFiles"
    },
}
WHITENOISE_USE_FINDERS = DEBUG
WHITENOISE_ALLOW_ALL_ORIGINS = False  # no page of another origin has any use for our files
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
DATA_UPLOAD_MAX_NUMBER_FILES = 5_000  # more than go with a message: the form says how many do

# --- Logs -----------------------------------------------------------------------------------------------------------
# Plain tracebacks: the pretty ones print local variables, and a prompt or a key could be among them.
_shared: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso"),
]
structlog.configure(
    processors=[
        structlog.stdlib.filter_by_level,
        *_shared,
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": _shared,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.dev.ConsoleRenderer(
                    colors=False, exception_formatter=structlog.dev.plain_traceback
                ),
            ],
        }
    },
    "filters": {
        "not_a_probe": {"()": "gymnasia.env.NotAProbe"},
        "told_in_a_line": {"()": "gymnasia.env.ToldInALine"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "plain", "filters": ["told_in_a_line"]}
    },
    "root": {"handlers": ["console"], "level": _log_level},
    "loggers": {
        # A line per request is noise beside the journal; what fails is told once, by Django.
        "django_structlog": {"level": "CRITICAL"},
        "django": {"handlers": []},  # its own, which say it a second time where debugging is on
        "django.request": {"filters": ["not_a_probe"]},
        "daphne": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        "httpcore": {"level": "WARNING"},
        "aiohttp": {"level": "WARNING"},
        "asyncio": {"level": "WARNING"},
    },
}
