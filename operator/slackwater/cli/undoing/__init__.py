"""Going back to a version that the cluster still keeps.

command    the group as it is, and the write
versions   which version, and in what it differs
template   what people wrote of its template
filled_in  what the API server fills in where a template says nothing
"""
