"""Tests of the silver tables."""
