"""Model files: one file that holds a whole fitted model, checked to the last byte when it is read.

`save(model, path)` writes it, `load(path)` brings the model back, `read_card(path)` tells what is in it at once.

- `container.py`: the bytes on disk (safetensors), their checksums; knows nothing of models
- `atomic.py`: the old file or the new one, never half of one
- `values.py`, `names.py`, `rows.py`: Python values as JSON and arrays
- `parts.py`, `registry.py`: how an estimator is taken apart, and which ones may be
- `api.py`: the three functions
"""

from arcrank.modelfile.api import load, read_card, save

__all__ = ["load", "read_card", "save"]
