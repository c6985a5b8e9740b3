"""What the fleet learns from its own history, on Spark and numpy. Imports only core and api, none of the clients."""
