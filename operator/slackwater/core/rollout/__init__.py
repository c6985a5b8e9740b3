"""A rollout in place.

`gates`: when may a pod be restarted? The questions, in order; `way_back`: who is waited for on the way back.
`candidates`: which pods are to be replaced. `in_place`: which one is next, and
what is done to it; `together`: how many may go at once. `canary` and `scaling` are what holds or bends it on the way;
`beginning` is how it starts, `failure` whether its version has failed, `excuses` when its pods are not to blame,
`ending` what follows from a failure, `duration` how long it took. `orphans` says whose pods are in the way of others,
`volumes` how their claims are changed, `unmade` which pods their controller should have made by now.
"""
