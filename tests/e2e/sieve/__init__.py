"""Each write of the operator meets each of six faults, once: after Sieve (Sun et al., OSDI 2022).

writes      which write a request is, and what makes it the same one again
faults      the faults, and which write meets which
proxy       stands between the operator and the API server; watches spoils what watches bring
mortal      the operator that can be killed in the middle of a request, and whose requests to Kafka meet the same faults
arena       a namespace with such an operator, and what is held about a group at the end of a scenario
adopting    StatefulSets as teams write them, to be adopted
table       how often each write met each fault
"""
