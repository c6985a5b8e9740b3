"""Where recommendations go besides the lake: a compacted topic, or a file that the operator follows.

A message is one group's newest recommendation under the key `<namespace>/<name>`. Spark's own sink writes to the topic,
record by record from the workers; the file is written here, line by line, and takes its place in one step, so that
nobody reads half of it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from slackwater.pipeline.errors import PipelineError
from slackwater.pipeline.failures import last_cause
from slackwater.pipeline.progress import tell
from slackwater.pipeline.schemas import GROUP_KEY

_CLIENTS_OWN: Final = "kafka."
_ANSWER_WITHIN_S: Final = 60
_ANSWER_WITHIN: Final = {"max.block.ms": "60000"}
_NO_TOPIC: Final = "UnknownTopicOrPartitionException"
_NOT_ALLOWED: Final = "TopicAuthorizationException"
_HIDDEN: Final = "hidden"


class Unpublishable(PipelineError):
    """The recommendations are in the lake, but not where they were to go."""


def messages_of(recommendations: DataFrame, groups: DataFrame) -> DataFrame:
    """`key` and `value` of each message. Of groups that have had one name one after the other, the newest speaks."""
    name = ("namespace", "name")
    newest_first = Window.partitionBy(*name).orderBy(F.desc("last_at"), "cluster", "group_id")
    ranked = groups.withColumn("rank", F.row_number().over(newest_first))
    speaking = ranked.where(F.col("rank") == 1).select(*GROUP_KEY)
    spoken = recommendations.join(speaking, on=list(GROUP_KEY), how="left_semi")
    return spoken.select(F.concat_ws("/", *name).alias("key"), F.col("message").alias("value"))


def write_file(messages: DataFrame, out: str) -> int:
    """One line a message, sorted by key; how many. Raises Unpublishable."""
    path, lines = Path(out), 0
    try:
        with NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False) as draft:
            try:
                for row in messages.orderBy("key").toLocalIterator():
                    draft.write(f"{row['value']}\n")
                    lines += 1
                draft.flush()
                os.fsync(draft.fileno())
                Path(draft.name).chmod(0o644)
                Path(draft.name).replace(path)
            except BaseException:
                Path(draft.name).unlink(missing_ok=True)
                raise
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise Unpublishable(
            f"cannot write the recommendations to {out} ({reason}): choose another --out-file"
        ) from error
    return lines


def write_topic(messages: DataFrame, servers: str, topic: str, options: Mapping[str, str]) -> int:
    """Send every message; how many. `options`: Spark's, the client's own with `kafka.` before. Raises Unpublishable."""
    spark = messages.sparkSession
    try:
        _require_topic(spark, servers, topic, options)
        sink = messages.write.format("kafka").options(**{f"{_CLIENTS_OWN}{k}": v for k, v in _ANSWER_WITHIN.items()})
        sink.options(**options).option("kafka.bootstrap.servers", servers).option("topic", topic).save()
        return messages.count()
    except (Py4JJavaError, PySparkException) as error:
        said = last_cause(str(error))
        raise Unpublishable(
            f"the recommendations are in the lake, but cannot be sent to the topic {topic} at {servers} ({said}): "
            "check --bootstrap-servers, --kafka and the user's right to write there, and run it again"
        ) from error


def _require_topic(spark: SparkSession, servers: str, topic: str, options: Mapping[str, str]) -> None:
    """Create the topic, compacted, where there is none; say so where there is one that is not compacted."""
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001 - pyspark's own way to Java has no public name
    properties = jvm.java.util.Properties()
    properties.setProperty("bootstrap.servers", servers)
    for name, value in options.items():
        if name.startswith(_CLIENTS_OWN):
            properties.setProperty(name.removeprefix(_CLIENTS_OWN), value)
    admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(properties)
    try:
        policy = _cleanup_policy(jvm, admin, topic)
        if policy is None:
            _create(jvm, admin, topic)
        elif policy == _HIDDEN:
            tell(
                f"This user may not see whether the topic {topic} is compacted, as it should be: grant DescribeConfigs."
            )
        elif "compact" not in policy:
            tell(
                f"The topic {topic} has cleanup.policy={policy}: old recommendations will vanish from it. "
                "Set it to compact."
            )
    finally:
        admin.close()


def _cleanup_policy(jvm: Any, admin: Any, topic: str) -> str | None:
    """None where there is no such topic, `_HIDDEN` where this user may not ask."""
    config = jvm.org.apache.kafka.common.config
    resource = config.ConfigResource(getattr(config, "ConfigResource$Type").TOPIC, topic)
    try:
        described = _answer(jvm, admin.describeConfigs(jvm.java.util.Collections.singleton(resource)).all())
    except Py4JJavaError as error:
        if _NO_TOPIC in str(error):
            return None
        if _NOT_ALLOWED in str(error):
            return _HIDDEN
        raise
    return str(described.get(resource).get("cleanup.policy").value())


def _create(jvm: Any, admin: Any, topic: str) -> None:
    empty = jvm.java.util.Optional.empty()
    new = jvm.org.apache.kafka.clients.admin.NewTopic(topic, empty, empty)
    new.configs(jvm.java.util.Collections.singletonMap("cleanup.policy", "compact"))
    _answer(jvm, admin.createTopics(jvm.java.util.Collections.singleton(new)).all())


def _answer(jvm: Any, future: Any) -> Any:
    return future.get(_ANSWER_WITHIN_S, jvm.java.util.concurrent.TimeUnit.SECONDS)
