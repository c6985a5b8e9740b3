"""The commands that people give groups.

one     one group: by annotation, and waiting until the operator has obeyed it
"""
