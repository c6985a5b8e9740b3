package dev.slackwater.examples;

import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.UnreleasedInstanceIdException;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * A member of a consumer group, with Kafka's own Java client.
 *
 * <p>What each part is for stands in docs/prepare-your-consumer.md. Replace {@link #process} by your work.
 */
public final class Main {
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long COMMIT_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long KNOCK_EVERY_MS = 100;

    private final CountDownLatch asked = new CountDownLatch(1);
    private final Properties properties;
    private final List<String> topics;
    private final Health health;
    private volatile boolean failed;

    private Main(Properties properties, List<String> topics, Health health) {
        this.properties = properties;
        this.topics = topics;
        this.health = health;
    }

    /** Your work. A record may come twice, so the second time has to change nothing. */
    private static void process(ConsumerRecord<String, String> record) {
        System.out.printf("processed %s-%d@%d%n", record.topic(), record.partition(), record.offset());
    }

    /** Runs until SIGTERM. */
    public static void main(String[] arguments) throws Exception {
        Map<String, String> environment = System.getenv();
        Properties properties = clientProperties(environment);
        long patience = Long.parseLong(properties.getProperty("max.poll.interval.ms", "300000"));
        Health health = new Health(Duration.ofMillis(patience));
        health.serve(Integer.parseInt(environment.getOrDefault("HEALTH_PORT", "8080")));
        Main main = new Main(properties, List.of(environment.get("TOPICS").split(",")), health);
        CountDownLatch ended = new CountDownLatch(1);
        // Java ends with 143 after SIGTERM, whatever was done: halt says that it ended well.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            main.asked.countDown();
            awaitQuietly(ended);
            Runtime.getRuntime().halt(main.failed ? 1 : 0);
        }));
        try {
            main.run();
        } catch (RuntimeException error) {
            main.failed = true;
            error.printStackTrace();
        } finally {
            ended.countDown();
        }
        System.exit(main.failed ? 1 : 0);
    }

    /** {@code KAFKA_SESSION_TIMEOUT_MS} is {@code session.timeout.ms}, and so on. */
    private static Properties clientProperties(Map<String, String> environment) {
        Properties properties = new Properties();
        properties.put("key.deserializer", StringDeserializer.class.getName());
        properties.put("value.deserializer", StringDeserializer.class.getName());
        properties.put("auto.offset.reset", "earliest");
        properties.put("enable.auto.commit", "false"); // we commit after the work, not by the clock
        environment.forEach((name, text) -> {
            if (name.startsWith("KAFKA_")) {
                properties.put(name.substring(6).toLowerCase(Locale.ROOT).replace('_', '.'), text);
            }
        });
        return properties;
    }

    private void run() throws InterruptedException {
        while (true) {
            try {
                consume();
                return;
            } catch (UnreleasedInstanceIdException inUse) {
                System.out.println("the instance id is in use; trying again");
                health.turn();
                if (asked.await(KNOCK_EVERY_MS, TimeUnit.MILLISECONDS)) {
                    return;
                }
            } catch (FencedInstanceIdException fenced) { // our replacement works already: wait for SIGTERM and do nothing
                System.out.println("fenced: another process has this instance id");
                health.ready(false);
                while (!asked.await(1, TimeUnit.SECONDS)) {
                    health.turn();
                }
                return;
            }
        }
    }

    /** One consumer, from joining to leaving. Its errors are those that it cannot recover from. */
    private void consume() {
        Map<TopicPartition, OffsetAndMetadata> done = new HashMap<>();
        // Closing keeps a static member of a classic group in it, with its partitions.
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(properties)) {
            consumer.subscribe(topics, committing(consumer, done));
            long committed = System.nanoTime();
            while (asked.getCount() > 0) {
                health.turn();
                health.ready(true);
                for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
                    if (asked.getCount() == 0) {
                        break;
                    }
                    process(record);
                    done.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
                }
                if (System.nanoTime() - committed > COMMIT_EVERY_NANOS) {
                    commit(consumer, done);
                    committed = System.nanoTime();
                }
            }
            health.ready(false);
            commit(consumer, done);
        }
    }

    /** What is done is committed before anybody else gets these partitions; what is lost has somebody else already. */
    private static ConsumerRebalanceListener committing(
            KafkaConsumer<String, String> consumer, Map<TopicPartition, OffsetAndMetadata> done) {
        return new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                commit(consumer, done);
            }

            @Override
            public void onPartitionsLost(Collection<TopicPartition> partitions) {
                partitions.forEach(done::remove);
            }

            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {}
        };
    }

    private static void commit(KafkaConsumer<String, String> consumer, Map<TopicPartition, OffsetAndMetadata> done) {
        if (done.isEmpty()) {
            return;
        }
        try {
            consumer.commitSync(done);
            done.clear();
        } catch (FencedInstanceIdException error) {
            throw error;
        } catch (KafkaException error) {
            System.out.println("not committed, so these records come again: " + error.getMessage());
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
        }
    }
}
