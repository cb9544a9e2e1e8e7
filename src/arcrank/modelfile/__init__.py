"""Model files: one file that holds a whole fitted model, checked to the last byte when it is read.

`save(model, path)` writes it, `load(path)` brings the model back, `read_card(path)` describes it without loading it.

- `container.py`: the bytes on disk (safetensors), their checksums; knows nothing of models
- `values.py`, `encoder.py`, `stored.py`, `rows.py`, `sparse.py`: Python values as JSON and arrays
- `manifest.py`: what a manifest must contain, and whether its parts agree
- `forms.py`, `array_forms.py`, `text_forms.py`, `patterns.py`: what a stored value may be
- `parameters.py`, `learnt.py`: the forms that the values of each part must have
- `parts.py`, `registry.py`: how an estimator is stored, and which estimators can be
- `models.py`: models as manifests and arrays
- `reading.py`: manifests and arrays as checked parts, and as models
- `api.py`: the three functions, without NumPy until a model is saved or loaded
"""

from arcrank.modelfile.api import load, read_card, save

__all__ = ["load", "read_card", "save"]
