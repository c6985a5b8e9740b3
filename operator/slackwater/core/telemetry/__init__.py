"""What happened to a group, derived from the row of worlds that its passes saw: folds, pure as all of `core`.

A fact has one id, whoever tells it: an operator that was restarted in the middle of something tells the rest of it
under the same ids, or nothing. What was not seen is null, never guessed.
"""
