"""Going back to a version that the cluster still keeps.

command    which one, and the write
template   what people wrote of its template
filled_in  what the API server fills in where a template says nothing
"""
