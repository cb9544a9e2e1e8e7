"""Side by side with peers: ratios taken in one run, alternated, medians."""
