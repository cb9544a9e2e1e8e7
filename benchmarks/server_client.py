"""A client that keeps some connections busy with single documents, in a process of its own, and prints its figures."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from urllib.parse import urlencode


async def connection(
    port: int, path: str, kind: str, bodies: list[bytes], left: list[int], times: list[float], errors: list[int]
):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: ".encode()
    while left[0] > 0:
        left[0] -= 1
        body = bodies[left[0] % len(bodies)]
        start = time.perf_counter()
        writer.write(head + str(len(body)).encode() + b"\r\n\r\n" + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        times.append(time.perf_counter() - start)
        errors[0] += not answer.startswith(b"HTTP/1.1 200")
    writer.close()


async def load(
    port: int, path: str, texts: list[str], connections: int, requests: int, form: bool = False
) -> dict[str, float]:
    """Send texts as JSON, or as forms, which Annif takes."""
    kind = "application/x-www-form-urlencoded" if form else "application/json"
    bodies = [
        (urlencode({"text": text, "limit": 5}) if form else json.dumps({"text": text, "top": 5})).encode()
        for text in texts
    ]
    left, times, errors = [requests], [], [0]
    start = time.perf_counter()
    await asyncio.gather(*[connection(port, path, kind, bodies, left, times, errors) for _ in range(connections)])
    seconds = time.perf_counter() - start
    times.sort()
    return {
        "connections": connections,
        "requests": len(times),
        "per_second": len(times) / seconds,
        "p50_ms": 1e3 * times[len(times) // 2],
        "p99_ms": 1e3 * times[int(len(times) * 0.99)],
        "errors": errors[0],
    }


if __name__ == "__main__":
    given = json.load(sys.stdin)
    print(json.dumps(asyncio.run(load(**given))))
