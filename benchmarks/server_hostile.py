"""200 clients that are slow, silent or wrong beside 20 good ones: latency of the good ones, time and memory of the bad.

`python -m benchmarks.server_hostile [GOOD_REQUESTS]` takes about a minute and a half.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from statistics import median

from benchmarks.server_client import load
from benchmarks.server_load import Served, reuters_model
from benchmarks.timing import report

_LOADS = 5
HEAD = (
    b"POST /v1/models/arcrank-benchmark-reuters/rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
)
KINDS = {
    "silent": (b"", b""),
    "slow header": (b"POST /v1", b"x"),
    "stalled body": (HEAD + b'Content-Length: 100\r\n\r\n{"text"', b""),
    "slow body": (HEAD + b'Content-Length: 1000\r\n\r\n{"text": "', b"x"),
    "lying length": (HEAD + b"Content-Length: 5\r\n\r\n" + b'{"text": "a"}' * 50, b""),
    "1 GB body": (HEAD + b"Content-Length: 1000000000\r\n\r\n", b"x" * 65536),
    "chunks without end": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65536 + b"\r\n"),
    "deep JSON": (HEAD + b"Content-Length: 900000\r\n\r\n" + b"[" * 900_000, b""),
    "a batch of 10^6": (HEAD + b"Content-Length: 4000012\r\n\r\n" + b'{"texts": [' + b'"",' * 300_000, b'"",' * 20_000),
    "NaN": (HEAD + b'Content-Length: 24\r\n\r\n{"features": {"a": NaN}}', b""),
    "lone surrogates": (HEAD + b'Content-Length: 18\r\n\r\n{"text": "\\ud800"}', b""),
}


async def hostile(port: int, begin: bytes, more: bytes) -> float:
    """Seconds until the server has answered or closed."""
    start = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def send() -> None:
        writer.write(begin)
        while more and not writer.is_closing():
            await writer.drain()
            await asyncio.sleep(0.2 if len(more) < 10 else 0)
            writer.write(more)

    sending = asyncio.create_task(send())
    try:
        await reader.read(1000)
    except OSError:
        pass
    finally:
        sending.cancel()
        writer.close()
    return time.perf_counter() - start


async def attack(port: int, end: float, longest: dict[str, float], number: int) -> None:
    """One client: after each attempt it waits, so that its own work does not take the server's core."""
    name = list(KINDS)[number % len(KINDS)]
    await asyncio.sleep(number / 40)
    while time.perf_counter() < end:
        longest[name] = max(longest.get(name, 0.0), await hostile(port, *KINDS[name]))
        await asyncio.sleep(5)


async def attacks(port: int, seconds: float) -> dict[str, float]:
    longest: dict[str, float] = {}
    end = time.perf_counter() + seconds
    await asyncio.gather(*[attack(port, end, longest, number) for number in range(200)])
    return longest


async def growth(served: Served, base: float, most: list[float]) -> None:
    """Note how much memory the server takes at most."""
    while True:
        most[0] = max(most[0], served.resident_mb() - base)
        await asyncio.sleep(0.2)


async def good(port: int, texts: list[str], requests: int) -> list[dict[str, float]]:
    """The figures of some loads by 20 good clients."""
    route = "/v1/models/arcrank-benchmark-reuters/rank"
    return [await load(port, route, texts, 20, requests // _LOADS) for _ in range(_LOADS)]


def typical_p99(loads: list[dict[str, float]]) -> float:
    """The median over loads, which a single pause of the machine does not decide."""
    return median(one["p99_ms"] for one in loads)


async def measure(port: int, texts: list[str], served: Served, requests: int) -> None:
    await good(port, texts, 500)
    quiet = await good(port, texts, requests)
    most = [0.0]
    watching = asyncio.create_task(growth(served, served.resident_mb(), most))
    command = [sys.executable, "-m", "benchmarks.server_hostile", "attack"]
    attacker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    await asyncio.sleep(8)
    besieged = await good(port, texts, requests) + await good(port, texts, requests)
    is_over = attacker.poll() is not None
    while attacker.poll() is None:
        await asyncio.sleep(0.2)
    watching.cancel()
    quiet += await good(port, texts, requests)
    longest = json.loads(attacker.communicate()[0])
    for name, loads in (("alone", quiet), ("beside 200 bad ones", besieged)):
        found = ", ".join(f"{one['p99_ms']:.0f}" for one in loads)
        failed = sum(one["errors"] for one in loads)
        print(f"good clients {name}: p99 {found} ms; {failed} of {sum(one['requests'] for one in loads):,} failed")
    if is_over:
        print("The bad clients ended before the good ones: ask for fewer requests.")
    for name, seconds in longest.items():
        print(f"{name}: answered or closed after at most {seconds:.1f} s")
    typical = typical_p99(besieged) / typical_p99(quiet)
    print(f"median p99 of good clients beside 200 bad ones: {typical:.2f} times that alone")
    largest = [max(one["p99_ms"] for one in loads) for loads in (besieged, quiet)]
    report("largest p99 of good clients beside 200 bad ones, times that alone", largest[0] / largest[1], 2)
    report("growth of resident memory, MB", most[0], 64)
    report("longest time until a bad client is answered or closed, s", max(longest.values()), 15)


def main() -> None:
    if sys.argv[1:] == ["attack"]:
        print(json.dumps(asyncio.run(attacks(8768, 45.0))))
        return
    path, texts = reuters_model()
    served = Served(str(path), port=8768)
    try:
        asyncio.run(measure(8768, texts[:300], served, int((*sys.argv[1:], "3000")[0])))
    finally:
        served.stop()


if __name__ == "__main__":
    main()
