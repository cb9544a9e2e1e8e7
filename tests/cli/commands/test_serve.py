"""The options of `arcrank serve`; tests/server starts it as a process."""

import sys

import pytest

from arcrank.cli.commands import serve as module
from arcrank.errors import ParameterError
from arcrank.server.run import bind
from arcrank.server.settings import Settings
from tests.cli.conftest import call, failed


def test_a_missing_file_and_a_used_port_are_told_apart(model, tmp_path):
    failed(call("serve", tmp_path / "none.arcrank"), "there is no such model file")
    with bind("127.0.0.1", 0) as used:
        port = used.getsockname()[1]
        failed(call("serve", model, "--port", port), f"127.0.0.1:{port} cannot be used", "Give another --port")


def test_two_models_of_one_name_are_refused(model, tmp_path):
    copy = tmp_path / model.name
    copy.write_bytes(model.read_bytes())
    failed(call("serve", model, copy, "--port", "0"), "have the same name")


def test_without_the_extra_the_command_says_what_to_install(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    failed(call("serve", model), "needs uvicorn", "pip install 'arcrank[serve]'")


def test_a_token_file_is_made_once_and_private(tmp_path, capsys):
    path = tmp_path / "token"
    token, is_new = module._token(path)
    assert (module._token(path), is_new) == ((token, False), False)
    assert len(token) == 32
    assert path.stat().st_mode & 0o077 == 0
    assert token not in capsys.readouterr().err
    path.write_text("short")
    with pytest.raises(ParameterError, match="at least 16"):
        module._token(path)
    assert module._token(None)[1]  # a token for this run, which the address shows


def test_a_server_for_all_networks_warns(capsys, tmp_path):
    module._announce([tmp_path / "a.arcrank"], Settings("0.0.0.0", allow_learning=True), 8000, None, "t")
    said = capsys.readouterr().err
    assert "warning: the server is exposed to the network" in said
    assert "http://127.0.0.1:8000/#token=t" in said
