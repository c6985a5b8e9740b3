package dev.slackwater.sandbox;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.StateRestoreListener;

/** How many records were read from changelogs: none, where the volume had the state. */
final class Restored implements StateRestoreListener {
  private final AtomicLong records = new AtomicLong();

  long records() {
    return records.get();
  }

  @Override
  public void onRestoreStart(TopicPartition partition, String store, long from, long to) {
    Events.print("restoring", Map.of("partition", partition.toString(), "from", from, "to", to));
  }

  @Override
  public void onBatchRestored(TopicPartition partition, String store, long end, long number) {
    records.addAndGet(number);
  }

  @Override
  public void onRestoreEnd(TopicPartition partition, String store, long total) {
    Events.print("restored", Map.of("partition", partition.toString(), "records", total));
  }
}
