"""A page with a model inside: one HTML file that ranks and explains in a browser, without a server.

The page is that of `arcrank.server`; `static/api.js` answers its requests in the browser.

- `contents.py`: what the page needs of a model, and which models it can hold
- `weights.py`: weights with fewer bits, so that the page has the size that is wanted
- `bundle.py`: modules of JavaScript as one script
- `page.py`: the page
- `static/`: the tokenizer, stemmers, scores, probabilities and explanations of arcrank in JavaScript
"""

from arcrank.export.contents import contents_of
from arcrank.export.page import html_page
from arcrank.export.weights import fit_weights, with_weights

__all__ = ["contents_of", "fit_weights", "html_page", "with_weights"]
