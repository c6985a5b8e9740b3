"""Reaching the cluster that the person means.

kubeconfig  which file, context and namespace
cluster     the API server there, and the ConsumerGroup by its name, with a sentence for what is missing
choice      which ConsumerGroups are meant: by names, by labels, or all
each        one act for each of them, some at a time
fleets      ConsumerFleets and FleetCampaigns by their names
"""
