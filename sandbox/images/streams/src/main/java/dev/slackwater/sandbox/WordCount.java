package dev.slackwater.sandbox;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Counts the words of TOPICS, and writes each new count to OUTPUT_TOPIC.
 *
 * <p>Words go by a repartition topic to a store on the state directory, so that the group has two subtopologies: one reads
 * what people name, one reads what Streams made. Client properties come from the environment, as those of the sandbox's
 * other consumers do: KAFKA_STATE_DIR is state.dir. Ends by SIGTERM as any JVM does, else with 1.
 */
public final class WordCount {
  static final String STORE = "counts";
  private static final String PREFIX = "KAFKA_";

  private WordCount() {}

  public static void main(String[] arguments) throws Exception {
    Map<String, String> environment = System.getenv();
    Topology topology = topology(topics(environment), environment.get("OUTPUT_TOPIC"));
    KafkaStreams streams = new KafkaStreams(topology, properties(environment));
    CountDownLatch ended = new CountDownLatch(1);
    Restored restored = new Restored();
    streams.setGlobalStateRestoreListener(restored);
    streams.setUncaughtExceptionHandler(
        error -> {
          error.printStackTrace();
          return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
    streams.setStateListener(
        (now, before) -> {
          Events.print("state", Map.of("now", now.name(), "before", before.name()));
          if (now == KafkaStreams.State.ERROR || now == KafkaStreams.State.NOT_RUNNING) {
            ended.countDown();
          }
        });
    Readiness.serve(port(environment), streams, restored);
    // A static member does not leave: its tasks wait for it, with the state that its volume keeps.
    Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
    streams.start();
    ended.await();
    System.exit(1); // after SIGTERM it is about to end by that anyway
  }

  static Topology topology(List<String> topics, String output) {
    StreamsBuilder builder = new StreamsBuilder();
    builder.stream(topics, Consumed.with(Serdes.ByteArray(), Serdes.String()))
        .flatMapValues(line -> List.of(line.toLowerCase(Locale.ROOT).split("\\W+")))
        .filterNot((key, word) -> word.isEmpty())
        .groupBy((key, word) -> word, Grouped.with(STORE, Serdes.String(), Serdes.String()))
        .count(Materialized.as(STORE))
        .toStream()
        .to(output, Produced.with(Serdes.String(), Serdes.Long()));
    return builder.build();
  }

  /** {@code KAFKA_SESSION_TIMEOUT_MS} is {@code session.timeout.ms}; empty variables count as unset. */
  static Properties properties(Map<String, String> environment) {
    Properties found = new Properties();
    // Each commit of a thread is one of its offsets, by which whoever watches the group sees that it gets on.
    found.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, "1000");
    environment.forEach(
        (name, value) -> {
          if (name.startsWith(PREFIX) && !value.isEmpty()) {
            String property = name.substring(PREFIX.length()).toLowerCase(Locale.ROOT).replace('_', '.');
            found.put(property, value);
          }
        });
    return found;
  }

  private static List<String> topics(Map<String, String> environment) {
    return List.of(environment.get("TOPICS").split("\\s*,\\s*"));
  }

  private static int port(Map<String, String> environment) {
    return Integer.parseInt(environment.getOrDefault("READY_PORT", "8080"));
  }
}
