"""scikit-learn's checks reach pytest in a form that every supported pytest collects."""

from arcrank import RankBoost
from tests.estimator_checks import parametrize_with_checks


def test_the_cases_are_a_list_that_keeps_the_marks():
    names, cases = parametrize_with_checks(
        [RankBoost()], expected_failed_checks=lambda _: {"check_fit_idempotent": "a reason"}
    ).args
    assert names == "estimator, check"
    assert isinstance(cases, list)
    assert len(cases) > 30
    assert sum(bool(getattr(case, "marks", ())) for case in cases) == 1
