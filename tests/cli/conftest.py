"""The tests against a real cluster play on the end-to-end tests' stage."""

from tests.e2e.conftest import crds, stage

__all__ = ["crds", "stage"]
