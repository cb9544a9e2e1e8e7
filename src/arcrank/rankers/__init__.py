"""Label rankers: estimators that learn to score every label of an instance."""
