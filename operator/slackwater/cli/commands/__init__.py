"""The commands as typer has them: arguments and options, and one call each.

groups      about groups that are there: list, members, lag, explain, history; pause, resume, promote, abort …
choosing    which groups: names, labels, or all
reading     what of one group or of many is shown, and what could not be read
manifests   about one that is not applied yet: plan, diff
fleets      fleet status, pause, resume, open
fleet_plan  fleet plan: as groups wait, all of them, or by a campaign
campaigns   campaign status, start, pause, promote
set_up      doctor, import, adopt
reason      what a reason means
pipeline    the jobs that run on Spark
"""
