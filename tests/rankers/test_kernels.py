from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from arcrank.errors import InputError
from arcrank.rankers.kernels import KERNELS, check_gram, make_kernel

X = np.random.default_rng(0).normal(size=(30, 4))
OPTIONS = {"gamma": 0.5, "degree": 2, "coef0": 1.0, "constant": 1.0}


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "linear"])
def test_diagonals_equal_the_matrix(name):
    data = X @ X.T if name == "precomputed" else X
    kernel = make_kernel(name, data, **OPTIONS)
    np.testing.assert_allclose(kernel.diagonal(data), np.diagonal(kernel.between(data, data)), atol=1e-12)


def test_values_by_hand():
    a, b = X[:1], X[1:2]
    dot = float(a[0] @ b[0])
    values = {
        "polynomial": (0.5 * dot + 1) ** 2,
        "rbf": np.exp(-0.5 * ((a - b) ** 2).sum()),
        "cosine": dot / np.sqrt((a**2).sum() * (b**2).sum()),
    }
    for name, value in values.items():
        assert make_kernel(name, X, **OPTIONS).between(a, b)[0, 0] == pytest.approx(value + 1.0)


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
def test_gamma_means_what_it_means_in_svc(gamma):
    from sklearn.svm import SVC

    expected = SVC(gamma=gamma).fit(X, np.arange(30) % 2)._gamma
    for data in (X, sp.csr_matrix(X)):
        assert make_kernel("rbf", data, **(OPTIONS | {"gamma": gamma})).gamma == pytest.approx(expected)


def test_gram_matrices():
    K = X @ X.T
    check_gram(K)
    check_gram(np.zeros((0, 0)))
    check_gram(K.astype(np.float32).astype(np.float64))
    Z = np.random.default_rng(1).normal(size=(1200, 3))
    large = Z @ Z.T
    check_gram(large)
    with pytest.raises(InputError, match="negative eigenvalue"):
        check_gram(large - 5 * np.eye(1200))
    large[3, 4] += 1.0
    with pytest.raises(InputError, match="not symmetric"):
        check_gram(large)


def test_a_kernel_that_is_negative_or_infinite_on_the_diagonal():
    for value, message in ((-1.0, "negative eigenvalue"), (np.inf, "NaN or infinite")):
        kernel = make_kernel(lambda A, B, value=value: np.full((len(A), len(B)), value), X, **OPTIONS)
        with pytest.raises(InputError, match=message):
            kernel.diagonal(X)
