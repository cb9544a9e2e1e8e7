"""The shipped stop lists: English function words, by part of speech, and the most frequent ones of other languages.

Function words are a closed class, so the list can be complete; what is frequent in one corpus only is left to idf.
The last block holds what is left of contractions after the apostrophe has cut them ("don't" -> don, t). Other
single letters stay, since some are names (the languages C and R). In lower case the names US and IT cannot be told
from "us" and "it", and go.
"""

from __future__ import annotations

from arcrank.text.function_words import FUNCTION_WORDS

__all__ = ["ENGLISH", "STOP_WORDS"]

_ARTICLES_AND_DETERMINERS = """
a an the this that these those each every either neither some any no none all both half several many much more
most few fewer fewest little less least enough such same other others another own
"""

_PRONOUNS = """
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself
we us our ours ourselves they them their theirs themselves one ones oneself
who whom whose which what whoever whomever whatever whichever
anybody anyone anything everybody everyone everything nobody nothing somebody someone something
"""

_AUXILIARIES = """
am is are was were be been being have has had having do does did doing done
can could may might must shall should will would ought cannot
"""

_PREPOSITIONS = """
about above across after against along amid among amongst around as at before behind below beneath beside besides
between beyond by concerning despite down during except for from in inside into like near of off on onto out
outside over past per since through throughout till to toward towards under underneath until up upon versus via
with within without
"""

_CONJUNCTIONS = """
and or but nor so yet if unless although though whereas whether while whilst because than lest hence thus
therefore thereby however moreover furthermore nevertheless nonetheless otherwise instead
"""

_ADVERBS = """
not never always often sometimes usually again already almost also altogether anyhow anyway anywhere away else
elsewhere even ever everywhere further here hereby herein just later maybe meanwhile merely mostly namely nearly
now nowhere once only perhaps quite rather really seldom somehow somewhat somewhere soon still then there thereafter
therein thereof thereupon together too very well when whence whenever where whereby wherein whereupon wherever
why how
"""

_PIECES_OF_CONTRACTIONS = """
s t d m ll re ve don doesn didn isn aren wasn weren hasn haven hadn won wouldn shan shouldn couldn mustn mightn
needn ain
"""

ENGLISH: frozenset[str] = frozenset(
    " ".join(
        (
            _ARTICLES_AND_DETERMINERS,
            _PRONOUNS,
            _AUXILIARIES,
            _PREPOSITIONS,
            _CONJUNCTIONS,
            _ADVERBS,
            _PIECES_OF_CONTRACTIONS,
        )
    ).split()
)

STOP_WORDS: dict[str, frozenset[str]] = {**FUNCTION_WORDS, "english": ENGLISH}
"""By language, named as PyStemmer names them."""
