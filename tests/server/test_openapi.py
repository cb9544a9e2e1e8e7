"""Requests that the OpenAPI page allows, and some that it does not: no failure, and no answer that it does not mention.

`ARCRANK_API_EXAMPLES=500 pytest -m api` sends more of them.
"""

import copy
import os

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from arcrank.server.openapi import openapi_document
from arcrank.server.settings import Settings
from tests.server.conftest import TOKEN, start

pytestmark = pytest.mark.api
EXAMPLES = int(os.environ.get("ARCRANK_API_EXAMPLES", "8"))
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance,
    response_schema_conformance, negative_data_rejection,
]  # fmt: skip


def described():
    """The description with the names of the models, so that most requests reach one."""
    document = copy.deepcopy(openapi_document())
    for path in document["paths"].values():
        for operation in path.values():
            for parameter in operation["parameters"]:
                if parameter["name"] == "model":
                    parameter["schema"]["enum"] = ["live", "news", "numbers"]
    return document


SCHEMA = schemathesis.openapi.from_dict(described())


@pytest.fixture(scope="module")
def learning(models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    paths = [folder / f"{name}.arcrank" for name in ("live", "news", "numbers")]
    for path in paths:
        path.write_bytes(models[path.stem].read_bytes())
    running = start(paths, Settings(allow_learning=True, token=TOKEN))
    yield running
    running.stop()


@SCHEMA.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_request_fails_or_is_answered_unexpectedly(case, learning):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    case.call_and_validate(base_url=learning.address, headers=headers, checks=CHECKS)
