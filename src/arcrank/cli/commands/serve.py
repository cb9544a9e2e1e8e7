"""`arcrank serve`: a server and a page that rank, explain and learn."""

from __future__ import annotations

import logging
import secrets
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from arcrank._wording import as_json, count
from arcrank.cli.console import say
from arcrank.cli.files import check_model_path
from arcrank.errors import ParameterError


def serve(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL...", help="Model files that `arcrank train` wrote.")],
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all networks.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free one.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Number of processes; each loads the models.")] = 1,
    allow_learning: Annotated[
        bool, typer.Option("--allow-learning", help="Record feedback, and learn it where the learner can.")
    ] = False,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with the token that feedback needs; it is created if there is none."),
    ] = None,
    grace: Annotated[float, typer.Option(min=1, max=600, help="Seconds in which to finish after SIGTERM.")] = 10.0,
    max_body: Annotated[int, typer.Option(min=1024, help="Largest request body, in bytes.")] = 1 << 20,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that an answer may take.")] = 30.0,
    log_texts: Annotated[bool, typer.Option("--log-texts", help="Write the documents to the log.")] = False,
) -> None:
    """Serve models over HTTP, with a page to rank, explain and teach by preferences.

    SIGHUP, or a changed model file, makes the server read the model again; a damaged file leaves the old model in
    place. Feedback is written to MODEL.feedback.jsonl beside the model before it is acknowledged.
    """
    _check_extra()
    from arcrank.compiled.jit import announce_compilation
    from arcrank.server.app import Application
    from arcrank.server.run import bind, serve
    from arcrank.server.settings import Limits, Settings
    from arcrank.server.workers import run_workers

    for path in models:
        check_model_path(path)
    token, is_new = _token(token_file) if allow_learning else (None, False)
    settings = Settings(
        host, port, workers, allow_learning, token, grace, log_texts=log_texts,
        limits=Limits(body_bytes=max_body, request=timeout),
    )  # fmt: skip
    if allow_learning:
        announce_compilation(lambda: say("Compiling for this machine, once (some seconds) ..."))
    logging.basicConfig(format="%(message)s", level=logging.INFO if log_texts else logging.WARNING)
    with bind(host, port) as listener:
        application = Application(models, settings) if workers == 1 else None
        _announce(models, settings, listener.getsockname()[1], application, token if is_new else None)
        if token_file is not None and allow_learning:
            say(f"The page asks for the token with the first feedback; it is in {token_file}.")
        if application is not None:
            serve(listener, application)
        else:
            run_workers(listener, models, settings)


def _check_extra() -> None:
    try:
        import msgspec  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ParameterError(
            f"arcrank serve needs {error.name}, which is not installed.\nInstall it: pip install 'arcrank[serve]'"
        ) from None


def _token(file: Path | None) -> tuple[str, bool]:
    """The token, and whether the user has yet to be shown it."""
    if file is None:
        return secrets.token_urlsafe(24), True
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(f"{secrets.token_urlsafe(24)}\n")
        say(f"Wrote a new token to {file}.")
    token = file.read_text().strip()
    if len(token) < 16 or not token.isascii() or not token.isprintable():
        raise ParameterError(
            f"{file}: a token is one line of at least 16 printable ASCII characters.\n"
            "Remove the file, and a new token is written to it."
        )
    return token, False


def _announce(models: list[Path], settings: Any, port: int, application: Any, token: str | None) -> None:
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{shown if shown != '0.0.0.0' else '127.0.0.1'}:{port}"
    if not settings.is_local:
        _warn_of_exposure(settings)
    first = models[0].name.removesuffix(models[0].suffix)
    body = as_json({"text": "..."})
    if application is not None:
        for slot in application.store.slots.values():
            say(f"{slot.name}: {slot.model.facts['learner']}, {count(len(slot.model.predictor.labels), 'label')}")
            if slot.name == first and not slot.model.predictor.takes_text:
                body = as_json({"features": {"...": 1}})
    say(f"Page:  {address}/{'' if token is None else f'#token={token}'}")
    say(f"API:   {address}/openapi.json")
    say(f"Try:   curl -H 'Content-Type: application/json' -d '{body}' {address}/v1/models/{first}/rank")
    sys.stderr.flush()


def _warn_of_exposure(settings: Any) -> None:
    who = f"Anyone who reaches {settings.host} can read rankings; put a proxy with TLS and access control before it."
    learning = " Feedback needs the token." if settings.allow_learning else ""
    say(f"warning: the server is exposed to the network. {who}{learning}")
