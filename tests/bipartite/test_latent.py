import numpy as np
from scipy import sparse

from arcrank.bipartite.latent import latent_features


def test_scores_are_the_weighted_features():
    X = sparse.random(30, 40, density=0.3, format="csr", random_state=0)
    model = latent_features(X, np.arange(5), 8, None)
    assert model.resolutions == (2, 4, 8)
    Z = model.transform(X)
    assert Z.shape == (30, 2 + 4 + 8 + 5)
    weights = np.random.default_rng(0).normal(size=Z.shape[1])
    model.set_weights(weights)
    np.testing.assert_allclose(model.scores(X), Z @ weights, atol=1e-12)
    np.testing.assert_allclose(model.scores(X.toarray()), Z @ weights, atol=1e-12)


def test_each_resolution_has_the_same_length_and_exemplars_are_orthonormal():
    X = sparse.random(30, 40, density=0.3, format="csr", random_state=1)
    model = latent_features(X, np.array([0, 1, 2, 2]), 8, None)
    Z = model.transform(X)
    for part in (Z[:, :2], Z[:, 2:6], Z[:, 6:14]):
        np.testing.assert_allclose(np.linalg.norm(part, axis=1), np.sqrt(1 / 3))
    np.testing.assert_allclose(model.span.T @ model.span, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(np.linalg.norm(Z[:3, 14:], axis=1), 1.0)  # an exemplar lies in the span


def test_few_columns_are_their_own_latent_vector():
    X = np.array([[3.0, 4.0], [0.0, 0.0]])
    Z = latent_features(X, np.array([0]), 8, None).transform(X)
    np.testing.assert_allclose(Z, [[0.6, 0.8, 1.0], [0.0, 0.0, 0.0]])
