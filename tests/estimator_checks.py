"""scikit-learn's estimator checks as the cases of a test, for every scikit-learn and pytest that we support."""

import pytest
from sklearn.utils import estimator_checks


def parametrize_with_checks(estimators, **options):
    """scikit-learn's decorator of the same name, with its cases in a list.

    Before version 1.8 scikit-learn passes a generator, which pytest 9.1 deprecates: the file is not collected.
    """
    mark = estimator_checks.parametrize_with_checks(estimators, **options)  # noqa: TID251
    names, cases = mark.args
    return pytest.mark.parametrize(names, list(cases), **mark.kwargs)
