"""The Preference Learning Model and its kernel machine (Aiolli & Sperduti 2004)."""

from arcrank.rankers.preference_machine.machine import PreferenceMachine

__all__ = ["PreferenceMachine"]
