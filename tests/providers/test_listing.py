"""The list of models: asked with the key in its header alone, read without trust."""

import pytest

from chat.providers.base import Endpoint, Model, Secret
from chat.providers.listing import listing_request, read_listing

HERE = Endpoint("compatible", "Compatible", "openai_chat", "http://127.0.0.1:9/v1", None, "strict", ())


def test_the_key_travels_in_the_header_that_the_dialect_wants() -> None:
    plain = listing_request(HERE)
    assert (plain.method, plain.url, plain.body) == ("GET", "http://127.0.0.1:9/v1/models", b"")
    assert plain.headers == {"accept": "application/json", "accept-encoding": "identity"}
    keyed = Endpoint(
        **{**{name: getattr(HERE, name) for name in HERE.__struct_fields__}, "key": Secret("k-1")}
    )
    assert listing_request(keyed).headers["authorization"] == "Bearer k-1"
    assert "k-1" not in repr(listing_request(keyed))


@pytest.mark.parametrize(
    ("body", "names"),
    [
        (b'{"object":"list","data":[{"id":"b","object":"model"},{"id":"a"},{"id":"b"}]}', ["b", "a"]),
        (b'{"data":[{"id":""}]}', []),
        (b'{"data":[{"name":"x"}]}', []),
        (b'{"data":null}', []),
        (b"<html>", []),
        (b"\xff\xfe", []),
        (b"", []),
    ],
)
def test_only_a_list_of_models_is_one(body: bytes, names: list[str]) -> None:
    assert read_listing(body) == tuple(Model(name, name) for name in names)


@pytest.mark.parametrize(
    ("architecture", "sees"),
    [
        ('{"input_modalities":["text","image"]}', True),
        ('{"input_modalities":["text"]}', False),
        ('{"input_modalities":"image"}', False),
        ('"image"', False),
        ("null", False),
    ],
)
def test_a_model_may_say_that_it_takes_pictures(architecture: str, *, sees: bool) -> None:
    """Whatever else stands there never costs the list."""
    body = f'{{"data":[{{"id":"m","architecture":{architecture}}}]}}'
    assert read_listing(body.encode()) == (Model("m", "m", sees=sees),)


def test_a_list_without_end_is_bounded() -> None:
    rows = ",".join(f'{{"id":"m{n}"}}' for n in range(1000))
    assert len(read_listing(f'{{"data":[{rows}]}}'.encode())) == 200
