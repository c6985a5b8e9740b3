package dev.slackwater.examples;

import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/** Your work. A record may come twice, so the second time has to change nothing. */
@Component
class Orders {
    @KafkaListener(topics = "#{'${TOPICS}'.split(',')}")
    void process(ConsumerRecord<String, String> record) {
        System.out.printf("processed %s-%d@%d%n", record.topic(), record.partition(), record.offset());
    }
}
