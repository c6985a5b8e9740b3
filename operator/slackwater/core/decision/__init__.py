"""What a decision is made of: what to remember, at most one act, why not more, what to say to people.

`decision` is the one type that all of it travels as; `acts` what the shell may be asked to do, `reasons` the closed
catalogue of why not (each with a page in docs/reasons.md), `notes` the Events, `words` small pieces of sentences.
"""
