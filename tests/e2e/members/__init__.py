"""Members that die, and members of pods that are scaled away."""
