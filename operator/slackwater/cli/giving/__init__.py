"""The commands that people give groups.

one     one group: by annotation, and waiting until the operator has obeyed it
many    many: a question before it, one after the other or at a time, and at the end who failed and why
fleet   a fleet: pause, resume, open
"""
