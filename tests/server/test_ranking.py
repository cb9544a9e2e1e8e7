"""The queue of documents: what is ranked together, what overtakes what, and what waits."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from arcrank.server.ranking import RankingQueue
from arcrank.server.served_model import ServedModel

TEXTS = ["opec oil", "wheat corn", "tanker in port", "oil tanker", ""]


@pytest.fixture(scope="module")
def model(models):
    return ServedModel.read(models["news"], "news")


@pytest.fixture
def pool():
    with ThreadPoolExecutor(1) as made:
        yield made


def documents(answer):
    return json.loads(answer)["documents"]


def test_small_requests_do_not_wait_for_a_large_one(model, pool):
    free = threading.Event()

    async def scenario():
        queue = RankingQueue(lambda: model, 2000, pool)
        large = asyncio.create_task(queue.use(lambda _: free.wait(20), large=True))
        waiting = asyncio.create_task(queue.rank(["oil " * 10_000], 2, None, None))
        try:
            await asyncio.sleep(0.05)
            assert queue.lock.locked()
            for alone in (False, True):
                answer = await asyncio.wait_for(queue.rank(["opec oil"], 2, None, None, alone=alone), 10)
                assert documents(answer)[0]["ranking"][0] == "crude"
            assert await asyncio.wait_for(queue.use(lambda one: one.name, large=False), 10) == "news"
            assert not waiting.done()
        finally:
            free.set()
        assert await large
        assert len(documents(await waiting)) == 1
        assert queue.length == 0

    asyncio.run(scenario())


def test_a_document_has_one_ranking_however_it_is_sent(model, pool):
    async def scenario():
        queue = RankingQueue(lambda: model, 2000, pool)
        alone = [documents(await queue.rank([text], None, None, None, alone=True))[0] for text in TEXTS]
        together = await asyncio.gather(*[queue.rank([text], None, None, None) for text in TEXTS])
        assert [documents(one)[0] for one in together] == alone
        assert documents(await queue.rank(TEXTS * 40, None, None, None)) == alone * 40
        assert queue.length == 0

    asyncio.run(scenario())


def test_an_error_reaches_only_the_request_that_caused_it(model, pool):
    async def scenario():
        queue = RankingQueue(lambda: model, 2000, pool)
        asked = [queue.rank([one], 1, None, None) for one in ("opec oil", {"oil": 1.0}, "wheat")]
        good, bad, other = await asyncio.gather(*asked, return_exceptions=True)
        assert [documents(one)[0]["ranking"] for one in (good, other)] == [["crude"], ["grain"]]
        assert "cannot be mixed" in str(bad) or "takes texts" in str(bad)

    asyncio.run(scenario())


def test_requests_that_were_given_up_are_not_ranked(model, pool):

    async def scenario():
        queue = RankingQueue(lambda: model, 2000, pool)
        for text in ("oil", "oil " * 10_000):
            task = asyncio.create_task(queue.rank([text], 1, None, None))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0.1)
        assert queue.length == 0

    asyncio.run(scenario())
