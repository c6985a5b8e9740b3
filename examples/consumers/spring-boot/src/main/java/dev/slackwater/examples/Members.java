package dev.slackwater.examples;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.errors.UnreleasedInstanceIdException;
import org.springframework.boot.availability.AvailabilityChangeEvent;
import org.springframework.boot.availability.LivenessState;
import org.springframework.boot.availability.ReadinessState;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.event.EventListener;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.kafka.event.ConsumerStoppedEvent;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.stereotype.Component;

/** What becomes of members that their group refuses: Spring Boot gives this to every listener's container. */
@Component
class Members extends DefaultErrorHandler {
    private static final long KNOCK_EVERY_MS = 100;

    private final ApplicationEventPublisher publisher;
    private final AtomicBoolean restarting = new AtomicBoolean();

    Members(ApplicationEventPublisher publisher) {
        this.publisher = publisher;
    }

    /** Under KIP-848 the pod before has the id until it ends: a client that was refused never tries again by itself. */
    @Override
    public void handleOtherException(
            Exception thrown, Consumer<?, ?> consumer, MessageListenerContainer container, boolean batchListener) {
        if (!(NestedExceptionUtils.getMostSpecificCause(thrown) instanceof UnreleasedInstanceIdException)) {
            super.handleOtherException(thrown, consumer, container, batchListener);
        } else if (restarting.compareAndSet(false, true)) {
            System.out.println("the instance id is in use; trying again");
            container.stop(() -> CompletableFuture.delayedExecutor(KNOCK_EVERY_MS, TimeUnit.MILLISECONDS).execute(() -> {
                restarting.set(false);
                container.start();
            }));
        }
    }

    /** Fenced, our replacement works already: wait for SIGTERM and do nothing. Of any other end the kubelet makes a start. */
    @EventListener
    void stopped(ConsumerStoppedEvent event) {
        switch (event.getReason()) {
            case NORMAL -> { }
            case FENCED -> {
                System.out.println("fenced: another process has this instance id");
                AvailabilityChangeEvent.publish(publisher, this, ReadinessState.REFUSING_TRAFFIC);
            }
            default -> AvailabilityChangeEvent.publish(publisher, this, LivenessState.BROKEN);
        }
    }
}
