"""A page's socket at the real application. For the tests of the consumer."""

import json
from typing import Any, Self

from channels.testing import WebsocketCommunicator

from gymnasia.asgi import application
from tests.engine.conftest import WAIT_S

ORIGIN = b"http://localhost:8000"


class Socket:
    """A page's socket; `origin` and `cookie` are what the browser adds."""

    def __init__(
        self,
        conversation_id: Any,
        *,
        cookie: bytes = b"",
        origin: bytes | None = ORIGIN,
        after: str | None = None,
        path: str = "/ws/conversations/{}/",
    ) -> None:
        headers = [(b"host", b"localhost:8000"), (b"cookie", cookie)]
        if origin is not None:
            headers.append((b"origin", origin))
        query = "" if after is None else f"?after={after}"
        self.wire = WebsocketCommunicator(application, path.format(conversation_id) + query, headers=headers)

    async def refused(self) -> Any:
        """The code that it was refused with."""
        connected, code = await self.wire.connect(timeout=WAIT_S)
        assert not connected
        return code

    async def __aenter__(self) -> Self:
        connected, code = await self.wire.connect(timeout=WAIT_S)
        assert connected, f"expected an open socket, got {code}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.wire.disconnect(timeout=WAIT_S)

    async def frame(self) -> Any:
        return json.loads(await self.wire.receive_from(timeout=WAIT_S))

    async def until_final(self) -> list[Any]:
        """Every frame up to the first last one."""
        frames = [await self.frame()]
        while not (isinstance(frames[-1], dict) and frames[-1]["type"] == "final"):
            frames.append(await self.frame())
        return frames

    async def code(self) -> int:
        """What the server closes it with, whatever came before."""
        while (output := await self.wire.receive_output(timeout=WAIT_S))["type"] == "websocket.send":
            pass
        assert output["type"] == "websocket.close"
        closed: int = output["code"]
        return closed

    async def say(self, text: str) -> None:
        await self.wire.send_to(text_data=text)
