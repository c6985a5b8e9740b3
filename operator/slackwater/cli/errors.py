"""What a person at the command line can run into, besides what the other layers already have sentences for.

    SlackwaterError
    ├── NotInstalled      the cluster does not know ConsumerGroups
    ├── NoSuchGroup       there is no ConsumerGroup of that name
    ├── NoSuchFleet       there is no ConsumerFleet of that name
    ├── NoSuchCampaign    there is no FleetCampaign of that name
    ├── NoSuchRevision    the cluster keeps no such version of the group, or none that its spec could have
    ├── NoSuchNamespace   there is no namespace of that name
    ├── FileUnusable      a file that is not there, cannot be read, or holds something else
    ├── KafkaUnseen       the group cannot be seen in Kafka from here
    ├── CannotBeImported  a workload that is not there, or that no ConsumerGroup can stand for
    ├── CannotBeAdopted   a StatefulSet that is not there, or that the group cannot have, or not now
    ├── CannotBeReleased  a group in the middle of something, or without a StatefulSet that could stay
    ├── OptionMissing     an option that only some workloads need
    ├── NothingToDo       a command that would change nothing
    ├── NotConfirmed      a command to many groups that the person did not want after all
    ├── SomeFailed        of many groups, some have failed; why, stands above
    ├── NotTried          of many groups, one that was left out, since the cluster did not answer
    ├── NotObeyed         the operator has not taken a command up in time, or not before the spec is valid
    │   └── NotTakenUp    not in time
    ├── NotReached        what is waited for has not come about in time
    └── WentWrong         what is waited for cannot come about any more

Each is one sentence: what happened, what it means, what to do. The command ends with 1; with 3 for
NotReached, and with 2 for a mistyped command line, which is typer's to refuse, and for OptionMissing.
"""

from __future__ import annotations

from slackwater.api.errors import SlackwaterError


class NotInstalled(SlackwaterError):
    """The API server has no CRDs of slackwater.dev."""


class NoSuchGroup(SlackwaterError):
    """There is no ConsumerGroup of that name in that namespace."""


class NoSuchFleet(SlackwaterError):
    """There is no ConsumerFleet of that name in that namespace."""


class NoSuchCampaign(SlackwaterError):
    """There is no FleetCampaign of that name in that namespace."""


class NoSuchRevision(SlackwaterError):
    """The cluster keeps no such version of the group, or one that more than the template makes."""


class NoSuchNamespace(SlackwaterError):
    """There is no such namespace in the cluster."""


class FileUnusable(SlackwaterError):
    """A file given on the command line cannot be used."""


class KafkaUnseen(SlackwaterError):
    """What was asked for is known to Kafka only, and it cannot be asked from here."""


class CannotBeImported(SlackwaterError):
    """There is no such workload, or a ConsumerGroup would lose what it has."""


class CannotBeAdopted(SlackwaterError):
    """There is no such StatefulSet, or it, its pods or its members are not as a ConsumerGroup's are."""


class CannotBeReleased(SlackwaterError):
    """What would stay is not one StatefulSet of one version under the group's name."""


class OptionMissing(SlackwaterError):
    """An option is missing that only some workloads need. Exit code 2, as for any mistyped command line."""


class NothingToDo(SlackwaterError):
    """The group is such that the command changes nothing."""


class NotConfirmed(SlackwaterError):
    """Whoever was asked whether a command to many groups is meant did not say yes. Nothing was done."""


class SomeFailed(SlackwaterError):
    """A command to many groups has failed for some of them; each has its sentence on standard error before this one."""


class NotTried(SlackwaterError):
    """One of many groups that nothing was done for, since the cluster had just not answered for another one."""


class NotObeyed(SlackwaterError):
    """The command was given, but the operator did not take it up in time, or waits for a valid spec."""


class NotTakenUp(NotObeyed):
    """The operator has not taken the command up in time; the command stands."""


class NotReached(SlackwaterError):
    """What was waited for did not come in time. Exit code 3, so that a script can distinguish it from a failure."""


class WentWrong(SlackwaterError):
    """The rollout that was waited for has failed, or was taken back."""
