"""Clients that are slow, silent, wrong or greedy: all are answered or cut off in time."""

import itertools
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from arcrank.server.metrics import resident_bytes
from arcrank.server.settings import Limits, Settings
from tests.server.conftest import TEXT

LIMITS = Limits(arrival=0.6, body_bytes=20_000, header_bytes=4096, request=5.0, connections=60)
HEAD = b"POST /v1/models/news/rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def until_closed(running, *parts, pause=0.0, timeout=5.0):
    """What the server answers before it closes the connection, and after how many seconds."""
    start, found = time.perf_counter(), b""
    with running.connect(timeout) as client:
        try:
            for part in parts:
                client.sendall(part)
                time.sleep(pause)
        except OSError:
            pass  # the server has closed it
        try:
            while data := client.recv(65536):
                found += data
        except ConnectionError:
            pass
    return found, time.perf_counter() - start


@pytest.fixture
def limited(serve):
    return serve("news", learning=False, limits=LIMITS)


def drip(data):
    return [data[at : at + 1] for at in range(len(data))]


@pytest.mark.parametrize(
    ("parts", "pause", "status"),
    [
        ([], 0, b"408"),
        (drip(HEAD)[:40], 0.05, b"408"),
        ([HEAD + b"Content-Length: 100\r\n\r\n", b'{"text":'], 0, b"408"),
        ([HEAD + b"Content-Length: 100\r\n\r\n", *drip(b'{"text": "' + b"a" * 30)], 0.05, b"408"),
        ([HEAD + b"Content-Length: 10000000000\r\n\r\n"], 0, b"413"),
        ([HEAD + b"Transfer-Encoding: chunked\r\n\r\n", *[b"2000\r\n" + b"a" * 0x2000 + b"\r\n"] * 10], 0, b"413"),
        ([HEAD + b"Content-Length: 2\r\n\r\n" + b'{"text": "a"}' * 3], 0, b"400"),
        ([HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}"], 0, b"400"),
        ([HEAD + b"X: " + b"a" * 8000 + b"\r\n\r\n"], 0, b"431"),
        ([b"GET /" + b"a" * 8000], 0, b"431"),
        ([b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"], 0, b"4"),
        ([b"GET / HTTP/1.1\r\n\r\n"], 0, b"400"),
    ],
    ids=["silent", "slow header", "stalled body", "slow body", "says 10 GB", "chunked", "lying length", "two lengths",
         "long header", "long line", "TLS", "no host"],
)  # fmt: skip
def test_bad_clients_are_answered_and_closed(limited, parts, pause, status):
    found, seconds = until_closed(limited, *parts, pause=pause)
    assert found.startswith(b"HTTP/1.1 " + status), found
    assert b"application/problem+json" in found
    assert seconds < 6.5  # uvicorn keeps an idle connection for 5 s
    assert limited.ranking("news")["ranking"]


def test_a_body_without_an_end_takes_no_memory(limited):
    block = b"10000\r\n" + b"a" * 65536 + b"\r\n"
    with limited.connect() as client:
        client.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
        before = resident_bytes()
        with pytest.raises(OSError, match=r"reset|pipe|closed"):
            client.sendall(block * 2000)  # 130 MB
    assert resident_bytes() - before < 64 << 20


def test_good_requests_are_answered_beside_bad_ones(limited):
    bad = [limited.connect() for _ in range(40)]
    for number, client in enumerate(bad):
        client.sendall([HEAD[:50], HEAD + b"Content-Length: 99\r\n\r\n{", b"G"][number % 3])
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: limited.ranking("news", TEXT)["ranking"], range(40)))
    assert len(found) == 40
    for client in bad:
        client.settimeout(5)
        assert client.recv(100).startswith(b"HTTP/1.1 408")
        client.close()


def test_connections_are_bounded(limited):
    clients = [limited.connect() for _ in range(60)]
    with limited.connect() as one_more:
        answer = one_more.recv(1000)
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"retry-after: 1" in answer
    for client in clients:
        client.close()


def test_several_requests_on_one_connection(limited):
    body = b'{"text": "oil"}'
    request = HEAD + b"Content-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body
    with limited.connect() as client:
        for _ in range(3):
            client.sendall(request)
            assert received(client, 1) == 1
            time.sleep(0.3)
        client.sendall(request * 3)  # pipelined
        assert received(client, 3) == 3


def received(client, n):
    """Read until there are n answers."""
    found = b""
    client.settimeout(5)
    while found.count(b"]}]}") < n:
        found += client.recv(65536)
    return found.count(b"HTTP/1.1 200 OK")


def test_answers_are_sent_at_once(limited):
    """Without TCP_NODELAY the body of an answer waits for the client to acknowledge its headers, which takes 40 ms."""
    body = b'{"text": "oil"}'
    request = HEAD + b"Content-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body
    times = []
    with limited.connect() as client:
        for _ in range(20):
            start = time.perf_counter()
            client.sendall(request)
            assert received(client, 1) == 1
            times.append(time.perf_counter() - start)
    assert min(times[5:]) < 0.035


def test_a_full_queue_is_answered_with_503(serve):
    running = serve("news", learning=False, limits=Limits(queue=3))
    queue = running.application.store["news"].queue
    queue.length = 3  # as if three documents were waiting
    answer = running.post("/v1/models/news/rank", {"text": "oil"})
    assert (answer.status, answer.headers["retry-after"]) == (503, "1")
    assert answer.json["detail"] == "3 documents are waiting, and no more than 3 may. Try again later."
    queue.length = 0
    assert running.post("/v1/models/news/rank", {"texts": ["oil"] * 5}).status == 200  # alone, it may be longer


def test_a_request_that_takes_too_long_is_given_up(serve):
    running = serve("news", learning=False, limits=Limits(request=0.05))
    words = ("".join(letters) for letters in itertools.product("abcdefghijklmnopqrstuvwxyz", repeat=4))
    texts = [" ".join(itertools.islice(words, 6000)) for _ in range(25)]  # all different, so that none is known
    answer = running.post("/v1/models/news/rank", {"texts": texts})
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    end = time.perf_counter() + 10
    while running.post("/v1/models/news/rank", {"text": "oil"}).status != 200:
        assert time.perf_counter() < end


def test_an_answer_is_bounded(serve):
    running = serve("news", learning=False, limits=Limits(cells=10))
    answer = running.post("/v1/models/news/rank", {"texts": ["oil"] * 4, "top": None})
    assert (answer.status, "12 labels, and 10 are allowed" in answer.json["detail"]) == (422, True)


def test_a_client_that_leaves_does_no_harm(limited):
    for _ in range(5):
        client = limited.connect()
        client.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        client.close()
    assert limited.ranking("news")["ranking"]


def test_a_client_that_does_not_read_is_cut_off(serve):
    running = serve("news", learning=False, limits=Limits(request=0.3))
    request, answers = b"GET /static/style.css HTTP/1.1\r\nHost: localhost\r\n\r\n", 1500
    length = len(running.get("/static/style.css").body)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(10)
        client.connect(("127.0.0.1", running.port))
        client.sendall(request * answers)
        time.sleep(3.0)  # ten times the limit, for a busy machine
        found = 0
        try:
            while data := client.recv(1 << 20):
                found += len(data)
        except ConnectionError:
            pass
    assert found < answers * length
    assert running.application.metrics.in_flight == 0
    assert running.ranking("news")["ranking"]


def test_the_limits_that_the_guide_names_are_the_defaults():
    limits = Limits()
    assert (limits.arrival, limits.body_bytes, limits.header_bytes) == (10.0, 1 << 20, 16 << 10)
    assert (limits.request, limits.texts, limits.queue, limits.connections) == (30.0, 1000, 2000, 1000)
    assert (Settings().host, Settings().grace, Settings().allow_learning) == ("127.0.0.1", 10.0, False)


@pytest.mark.parametrize("asked", [False, True])
def test_texts_are_in_the_log_only_if_asked_for(serve, caplog, asked):
    caplog.set_level("DEBUG")
    running = serve("news", learning=False, log_texts=asked)
    running.ranking("news", "a secret text")
    running.post("/v1/models/news/rank", {"text": "a secret text", "top": 0})
    running.post("/v1/models/news/explain", {"text": "a secret text", "above": "secret"})
    assert ("secret" in caplog.text) is asked
