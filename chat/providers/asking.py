"""What the requests of several wires share: headers and addresses.

Takes an endpoint; gives the pieces of an `UpstreamRequest`. Does not know any wire's body.
"""

from __future__ import annotations

from chat.providers.base import Endpoint


def headers(endpoint: Endpoint, key_header: str, *, accept: str = "text/event-stream") -> dict[str, str]:
    """Return the headers of a request; the key goes into `authorization` as a bearer, or bare into its own one."""
    # `identity`: a proxy that compresses also buffers.
    found = {"content-type": "application/json", "accept": accept, "accept-encoding": "identity"}
    if endpoint.key is not None:
        key = endpoint.key.reveal()
        found[key_header] = f"Bearer {key}" if key_header == "authorization" else key
    return found


def address(base_url: str, path: str) -> str:
    """Return the address of a call; people paste the base with and without it."""
    base = base_url.rstrip("/")
    return base if base.endswith(path) else f"{base}{path}"
