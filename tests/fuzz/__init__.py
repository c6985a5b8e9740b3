"""What strangers' bytes do to us: one module for each target, played by Atheris, which looks for ways to new code.

    make fuzz                                  each for a minute
    python -m tests.fuzz.offsets -runs=100000  one of them; its words are libFuzzer's

What it finds is left in build/fuzz, and is played again by giving it to its target. Then it becomes a test beside the
others of what it broke.
"""
