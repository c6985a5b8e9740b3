"""The commands that people give groups.

one     one group: by annotation, and waiting until the operator has obeyed it
many    many: a question before it, one after the other or at a time, and at the end who failed and why
release  one group goes, and its StatefulSet stays
fleet   a fleet: pause, resume, open
campaign  a campaign: start, pause, promote
written  what they have in common: a change that is written, and waited for
"""
