"""What decisions are in words, for people. Pure.

acts         an act, as somebody would say it who is about to do it
gates        what each gate says
explanation  a plan: what would be done now, why, and what would follow
readiness    why a group at rest is not Ready
deletion     what is decided about a group, also about one that is being deleted
conditions   those in its status
version      which version a group is given, by its image
standing     how a group stands, where the operator's own word is known
protocol     how it rebalances, and where it is being taken
proofs       what would still prove that a member is back
fleets       what a fleet's budgets and windows say, and why a group waits for its turn
orders       for which campaign's order it waits
reasons      what a reason means, and what to do
"""
