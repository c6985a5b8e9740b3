"""Tests of the ingest job."""
