"""Rankings of ten thousand to a million labels."""

from arcrank.rankers.shortlist.ranker import ShortlistRanker

__all__ = ["ShortlistRanker"]
