"""The `slackwater` command.

The rooms stand on floors, as core's do (held by a contract):

    main                                    the command line: the app, and the commands that fit into no other module
    commands                                arguments and options, and one call each
    adopting | undoing                      a StatefulSet that runs becomes a group's; an earlier version comes back
    planning | importing | doctor | giving  what a manifest would change; a running workload's manifest; what is
                                            missing in an installation; the commands that people give a group
    looking                                 one look at a group, many of them, or until something is so
    pictures | reaching                     what people and programs read; the cluster that the person means
    words | options | completion            pieces of sentences; what commands have in common
    grouped | edge                          `--help`; errors as sentences
    errors

`words` and `pictures` are pure: the same world and decision give the same text.

What takes a second to import (the clients of Kubernetes and Kafka, Spark) is imported in the functions that need it,
by the modules that the command line itself is made of: `main` and `commands`. So a mistyped line, `--help` and
completion answer at once. All other modules import at their beginning.
"""
