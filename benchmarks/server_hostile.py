"""200 clients that are slow, silent or wrong beside 20 good ones: latency of the good ones, time and memory of the bad.

`python -m benchmarks.server_hostile`
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time

from benchmarks.server_client import load
from benchmarks.server_load import Served, reuters_model

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
    "NaN": (HEAD + b'Content-Length: 25\r\n\r\n{"features": {"a": NaN}}  ', b""),
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


async def measure(port: int, texts: list[str], served: Served) -> None:
    route = "/v1/models/arcrank-benchmark-reuters/rank"
    await load(port, route, texts, 20, 500)
    quiet = await load(port, route, texts, 20, 3000)
    base, most = served.resident_mb(), 0.0
    command = [sys.executable, "-m", "benchmarks.server_hostile", "attack"]
    attacker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    await asyncio.sleep(8)
    besieged = await load(port, route, texts, 20, 3000)
    while attacker.poll() is None:
        most = max(most, served.resident_mb() - base)
        await asyncio.sleep(0.2)
    longest = json.loads(attacker.communicate()[0])
    print(f"good clients alone: p99 {quiet['p99_ms']:.0f} ms; beside 200 bad ones: p99 {besieged['p99_ms']:.0f} ms")
    print(
        f"{besieged['errors']} of {besieged['requests']:,} good requests failed; memory grew by {most:.0f} MB at most"
    )
    for name, seconds in longest.items():
        print(f"{name}: closed after at most {seconds:.1f} s")


def main() -> None:
    if sys.argv[1:] == ["attack"]:
        print(json.dumps(asyncio.run(attacks(8768, 45.0))))
        return
    path, texts = reuters_model()
    served = Served(str(path), port=8768)
    try:
        asyncio.run(measure(8768, texts[:300], served))
    finally:
        served.stop()


if __name__ == "__main__":
    main()
