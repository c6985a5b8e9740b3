"""Slackwater as users install it: the chart, its upgrades, adoption, the tutorial, the dashboard."""
