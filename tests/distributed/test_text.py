"""Text features fitted on a real cluster of processes: equal to one machine."""

from __future__ import annotations

import inspect
from itertools import pairwise

import dask
import dask.bag
import numpy as np
import pytest

from arcrank.datasets import load_debtags_sample
from arcrank.distributed import DaskTextFeatures
from arcrank.errors import InputError
from arcrank.text import TextFeatures
from tests.distributed.conftest import CUTS

TEXTS = load_debtags_sample().texts[:300]


def parts_of(texts, cuts):
    return [dask.delayed(texts[a:b]) for a, b in pairwise(cuts)]


@pytest.mark.parametrize("n", CUTS)
def test_merged_counts_give_the_features_of_one_machine(client, n):
    local = TextFeatures().fit(TEXTS)
    parts = parts_of(TEXTS, CUTS[n])
    found = DaskTextFeatures(client=client).fit(parts)
    assert found.terms_ == local.terms_
    assert found.language_ == local.language_
    np.testing.assert_array_equal(found.idf_, local.idf_)
    expected = local.transform(TEXTS).toarray()
    np.testing.assert_array_equal(found.to_local().transform(TEXTS).toarray(), expected)
    blocks = client.gather(client.compute(found.transform(parts)))
    np.testing.assert_array_equal(np.vstack([one.toarray() for one in blocks]), expected)


def test_the_language_is_found_in_texts_of_all_partitions(client):
    german = ["Die Häuser der Stadt und der See", "Ein Haus mit einem Garten und der Straße"] * 40
    texts = ["The house of the city"] * 2 + german
    found = DaskTextFeatures(client=client).fit(dask.bag.from_sequence(texts, npartitions=3))
    assert found.language_ == TextFeatures().fit(texts).language_ == "german"


def test_limits_and_no_idf(client):
    settings = {"language": "english", "min_df": 0.02, "max_df": 0.3, "idf": False, "ngrams": 1}
    local = TextFeatures(**settings).fit(TEXTS)
    found = DaskTextFeatures(**settings, client=client)
    blocks = dask.compute(*found.fit_transform(parts_of(TEXTS, CUTS[2])))
    assert found.terms_ == local.terms_
    np.testing.assert_array_equal(blocks[0].toarray(), local.transform(TEXTS[:80]).toarray())
    np.testing.assert_array_equal(found.transform(TEXTS[:5]).toarray(), local.transform(TEXTS[:5]).toarray())


def test_texts_that_cannot_be_learnt_from_are_refused(client):
    with pytest.raises(InputError, match="texts must be a list of delayed lists"):
        DaskTextFeatures(client=client).fit(["tea"])
    with pytest.raises(InputError, match="no term is left of 2 texts"):
        DaskTextFeatures(client=client, language=None).fit(parts_of(["tea", "milk"], [0, 1, 2]))
    with pytest.raises(InputError, match="text 1 is missing"):
        DaskTextFeatures(client=client).fit([dask.delayed(["tea", None])])


def test_parameters_are_those_of_the_plain_features():
    plain, found = (inspect.signature(one).parameters for one in (TextFeatures, DaskTextFeatures))
    assert [str(one) for one in found.values()][: len(plain)] == [str(one) for one in plain.values()]
    assert list(found)[len(plain) :] == ["client", "timeout"]
