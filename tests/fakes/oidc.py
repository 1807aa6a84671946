"""A small OpenID Connect service on loopback: it knows one person and asks nothing.

Takes a client's id and secret, gives what discovery, authorisation, tokens and user info are by the specification, as far as
a client of the code flow meets them. `denies` sends the browser back without a code; `broken` answers
the token request with 500.
"""

import json
import secrets
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt

CLIENT, SECRET = "gymnasia", "a-secret-that-is-long-enough-to-sign-with"


class Issuer:
    """Runs while it is entered."""

    def __init__(self, *, subject: str = "4711", name: str = "mira", email: str = "mira@example.org") -> None:
        self.person = {"sub": subject, "preferred_username": name, "email": email, "email_verified": True}
        self.denies = self.broken = False
        self.asked: list[dict[str, str]] = []
        self._codes: dict[str, dict[str, str]] = {}
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer._get(self)

            def do_POST(self) -> None:
                issuer._token(self)

            def log_message(self, *_: Any) -> None:
                """Tests look at what comes back."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _get(self, request: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/.well-known/openid-configuration":
            places = {
                "authorization_endpoint": "/authorize",
                "token_endpoint": "/token",
                "userinfo_endpoint": "/userinfo",
                "jwks_uri": "/keys",
            }
            _json(request, {"issuer": self.url, **{name: self.url + path for name, path in places.items()}})
        elif parts.path == "/authorize":
            self.asked.append(query)
            code = secrets.token_urlsafe(8)
            self._codes[code] = query
            found = {"error": "access_denied"} if self.denies else {"code": code}
            request.send_response(302)
            request.send_header(
                "Location", f"{query['redirect_uri']}?{urlencode(found | {'state': query['state']})}"
            )
            request.send_header("Content-Length", "0")
            request.end_headers()
        elif parts.path == "/userinfo":
            _json(request, self.person)
        else:
            _json(request, {}, 404)

    def _token(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"])).decode()
        given = {name: values[0] for name, values in parse_qs(body).items()}
        asked = self._codes.pop(given.get("code", ""), None)
        if (
            self.broken
            or asked is None
            or given.get("client_secret", SECRET) != SECRET
            or "code_verifier" not in given
        ):
            _json(request, {"error": "invalid_grant"}, 500 if self.broken else 400)
            return
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 60, **self.person}
        token = jwt.encode(claims, SECRET, algorithm="HS256")
        _json(request, {"access_token": "opens-userinfo", "token_type": "Bearer", "id_token": token})


def _json(request: BaseHTTPRequestHandler, value: dict[str, Any], status: int = 200) -> None:
    body = json.dumps(value).encode()
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)
