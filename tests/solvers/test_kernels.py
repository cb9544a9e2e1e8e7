from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from arcrank.solvers.kernels import Kernel

rng = np.random.default_rng(0)
A, B = rng.normal(size=(6, 5)), rng.normal(size=(4, 5))


@pytest.mark.parametrize("name", ["rbf", "polynomial"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_values_are_those_of_scikit_learn(name, form):
    more = {"degree": 2, "coef0": 1.5} if name == "polynomial" else {}
    expected = pairwise_kernels(A, B, metric=name, gamma=0.3, **more)
    values = Kernel(name, gamma=0.3, **more).between(form(A), form(B))
    np.testing.assert_allclose(values, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["rbf", "polynomial"])
def test_values_from_products_equal_those_of_instances(name):
    kernel = Kernel(name, gamma=0.3, degree=2, coef0=1.5)
    lengths = (A**2).sum(axis=1)[:, None], (B**2).sum(axis=1)
    np.testing.assert_allclose(kernel.of_products(A @ B.T, *lengths), kernel.between(A, B), rtol=1e-12)
