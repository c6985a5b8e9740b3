"""The Grafana dashboard as code; `python -m dashboard` writes it into the chart.

`fleet`, `turns`, `campaigns`, `totals`, `operators` and `group` say what there is to see, `panels` what that is made
of, `grafana` how Grafana wants it written down.
"""
