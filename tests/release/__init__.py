"""What a release is made of: versions, chart, krew manifest, notes, workflows."""
