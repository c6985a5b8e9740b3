"""Telemetry from a Kafka topic or from files into the lake's bronze tables, each event once.

source   where telemetry comes from: rows of RAW, as a table or a stream
bronze   what of it is an event, and what is none and why
shapes   the quick look that most events pass
rules    what each field must be, as data
fields   whether it is, as column expressions
times    moments that cannot be
job      two streaming queries over one source
command  the job's command line
"""
