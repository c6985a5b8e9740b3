"""What a decision is made of: what to remember, at most one act, why not more, what to say to people.

`decision` is the one type that all of it travels as; `acts` what the shell may be asked to do, `reasons` the value of
waiting (the catalogue of reasons, each with a section in docs/reasons.md, is core/world/reasons), `notes` the Events,
`words` small pieces of sentences, `remains` what a group that is being deleted has left.
"""
