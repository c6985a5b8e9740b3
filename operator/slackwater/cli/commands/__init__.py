"""The commands as typer has them: arguments and options, and one call each."""
