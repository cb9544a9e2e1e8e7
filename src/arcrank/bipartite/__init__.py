"""Rankers of instances, learnt from relevant and irrelevant ones (Amini, Truong & Goutte 2008)."""
