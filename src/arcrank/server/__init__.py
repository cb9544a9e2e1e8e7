"""An HTTP server that ranks, explains and learns from preferences, and a page for people. It needs the extra `serve`.

- `settings.py`: addresses, limits and whether the server learns
- `schemas.py`: what requests and answers contain; `openapi.py` describes the routes by it
- `problems.py`: errors as problem+json
- `served_model.py`, `store.py`: models in memory, replaced when their files change
- `ranking.py`: a bounded queue of documents, ranked in batches
- `spans.py`, `label_index.py`: words in a text, and labels by their first letters
- `journal.py`, `preferences.py`, `learning.py`: feedback on disk, as preference graphs, and in a model
- `routes.py`, `page.py`, `middleware.py`, `metrics.py`, `app.py`: the application
- `protocol.py`, `run.py`: connections, deadlines, signals and processes
"""
