package dev.slackwater.examples;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;

/**
 * A member of a consumer group, with Kafka Streams.
 *
 * <p>What each part is for stands in docs/prepare-your-consumer.md. Replace {@link #topology} by yours.
 */
public final class Main {
    private static final Duration CLOSES_WITHIN = Duration.ofSeconds(25);

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean failed;
    private volatile boolean fenced;

    private Main() {}

    /** Your work. A record may come twice, so the second time has to change nothing. */
    private static Topology topology(List<String> topics) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.<byte[], String>stream(topics).process(() -> new ContextualProcessor<byte[], String, Void, Void>() {
            @Override
            public void process(Record<byte[], String> record) {
                context().recordMetadata().ifPresent(at ->
                        System.out.printf("processed %s-%d@%d%n", at.topic(), at.partition(), at.offset()));
            }
        });
        return builder.build();
    }

    /** Runs until SIGTERM. */
    public static void main(String[] arguments) throws Exception {
        new Main().run(System.getenv());
    }

    private void run(Map<String, String> environment) throws Exception {
        List<String> topics = List.of(environment.get("TOPICS").split(","));
        KafkaStreams streams = new KafkaStreams(topology(topics), properties(environment));
        streams.setUncaughtExceptionHandler(this::uncaught);
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.ERROR && !fenced) {
                failed = true;
                asked.countDown();
            }
        });
        int port = Integer.parseInt(environment.getOrDefault("HEALTH_PORT", "8080"));
        Health.serve(port, () -> fenced || streams.state() != KafkaStreams.State.ERROR,
                () -> streams.state().isRunningOrRebalancing() && !fenced && asked.getCount() > 0);
        // Java ends with 143 after SIGTERM, whatever was done: halt says that it ended well.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            asked.countDown();
            awaitQuietly(ended);
            Runtime.getRuntime().halt(failed ? 1 : 0);
        }));
        streams.start();
        asked.await(); // fenced, too: our replacement works already, so wait for SIGTERM and do nothing
        if (!streams.close(CLOSES_WITHIN)) { // commits; a static member stays in its group, and keeps its partitions
            System.out.println("not closed in time, so some records come again");
        }
        ended.countDown();
        System.exit(failed ? 1 : 0);
    }

    private StreamThreadExceptionResponse uncaught(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof FencedInstanceIdException) {
                System.out.println("fenced: another process has this instance id");
                fenced = true;
                return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
            }
        }
        error.printStackTrace();
        return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    }

    /** {@code KAFKA_SESSION_TIMEOUT_MS} is {@code session.timeout.ms}, and so on; the group's id is the application's. */
    private static Properties properties(Map<String, String> environment) {
        Properties properties = new Properties();
        properties.put("default.key.serde", Serdes.ByteArraySerde.class.getName());
        properties.put("default.value.serde", Serdes.StringSerde.class.getName());
        properties.put("auto.offset.reset", "earliest");
        properties.put("commit.interval.ms", "1000"); // 30 s by default: each restart would wait for the next commit
        environment.forEach((name, text) -> {
            if (name.startsWith("KAFKA_")) {
                String property = name.substring(6).toLowerCase(Locale.ROOT).replace('_', '.');
                properties.put(property.equals("group.id") ? "application.id" : property, text);
            }
        });
        return properties;
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }
}
