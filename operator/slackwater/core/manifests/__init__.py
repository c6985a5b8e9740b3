"""What is written to the cluster.

`template` is the pod template, with `client_settings` in it; `objects` the StatefulSet, Service and budget around it,
with its volume `claims`;
`writes` the few ways in which a StatefulSet is written; `drift` compares what is there with what was written, and
`needs` what two versions ask of the cluster.
"""
