// A member of a consumer group, with confluent-kafka-go: https://github.com/confluentinc/confluent-kafka-go.
//
// What each part is for stands in docs/prepare-your-consumer.md. Replace process by your work.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

const (
	knockEvery  = 200 * time.Millisecond
	pollMs      = 200
	fiveMinutes = 300_000
)

// process is your work. A record may come twice, so the second time has to change nothing.
func process(record *kafka.Message) {
	at := record.TopicPartition
	fmt.Printf("processed %s-%d@%d\n", *at.Topic, at.Partition, at.Offset)
}

func main() {
	asked, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	properties := clientProperties(os.Environ())
	state := &health{patience: patience(properties)}
	go func() { log.Fatal(state.serve(address())) }()
	topics := strings.Split(os.Getenv("TOPICS"), ",")
	err := consume(asked, properties, topics, state)
	state.ready.Store(false)
	switch {
	case is(err, kafka.ErrUnreleasedInstanceID):
		log.Print("the instance id is in use; trying again")
		if pause(asked, knockEvery) {
			err = again()
		} else {
			err = nil
		}
	case is(err, kafka.ErrFencedInstanceID): // our replacement works already: wait for SIGTERM and do nothing
		log.Print("fenced: another process has this instance id")
		for pause(asked, time.Second) {
			state.turn()
		}
		err = nil
	}
	if err != nil {
		log.Fatal(err)
	}
}

// again starts this program in this process' place. Closing a client after a fatal error does not return (seen with
// confluent-kafka-go 2.14.0), so a second client in the same process would leave the first one's threads behind.
func again() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(program, os.Args, os.Environ())
}

// clientProperties: KAFKA_SESSION_TIMEOUT_MS is session.timeout.ms, and so on.
func clientProperties(environment []string) kafka.ConfigMap {
	properties := kafka.ConfigMap{
		"auto.offset.reset":        "earliest",
		"enable.auto.commit":       true, // of what was stored, once a second
		"auto.commit.interval.ms":  1000,
		"enable.auto.offset.store": false, // we store an offset after its record's work, not before
	}
	for _, each := range environment {
		name, text, _ := strings.Cut(each, "=")
		if property, ours := strings.CutPrefix(name, "KAFKA_"); ours {
			properties[strings.ReplaceAll(strings.ToLower(property), "_", ".")] = text
		}
	}
	return properties
}

// consume is one consumer from joining to leaving; nil where it was asked to stop. Else nothing is closed: see again.
func consume(asked context.Context, properties kafka.ConfigMap, topics []string, state *health) error {
	consumer, err := kafka.NewConsumer(&properties)
	if err != nil {
		return err
	}
	if err := consumer.SubscribeTopics(topics, rebalanced); err != nil {
		return err
	}
	for asked.Err() == nil {
		state.turn()
		state.ready.Store(true)
		switch event := consumer.Poll(pollMs).(type) {
		case *kafka.Message:
			process(event)
			if _, err := consumer.StoreMessage(event); err != nil {
				log.Printf("not ours any more: %v", err)
			}
		case kafka.Error:
			if event.IsFatal() || is(event, kafka.ErrFencedInstanceID) || is(event, kafka.ErrUnreleasedInstanceID) {
				return event
			}
			log.Print(event)
		}
	}
	if err := commit(consumer); err != nil {
		return err
	}
	return consumer.Close() // a static member of a classic group stays in it, and keeps its partitions
}

func rebalanced(consumer *kafka.Consumer, event kafka.Event) error {
	if _, revoked := event.(kafka.RevokedPartitions); !revoked {
		return nil
	}
	if consumer.AssignmentLost() { // somebody else has them already: nothing can be committed
		log.Printf("lost %v", event)
		return nil
	}
	return commit(consumer)
}

// commit waits for the answer: what is done is known before anybody else gets these partitions.
func commit(consumer *kafka.Consumer) error {
	_, err := consumer.Commit()
	if err == nil || is(err, kafka.ErrNoOffset) {
		return nil
	}
	if is(err, kafka.ErrFencedInstanceID) {
		return err
	}
	log.Printf("not committed, so these records come again: %v", err)
	return nil
}

func is(err error, code kafka.ErrorCode) bool {
	var ours kafka.Error
	return errors.As(err, &ours) && ours.Code() == code
}

// pause is false where we were asked to stop.
func pause(asked context.Context, long time.Duration) bool {
	select {
	case <-asked.Done():
		return false
	case <-time.After(long):
		return true
	}
}

func patience(properties kafka.ConfigMap) time.Duration {
	text, _ := properties["max.poll.interval.ms"].(string)
	milliseconds, err := strconv.Atoi(text)
	if err != nil { // the client says what is wrong with it
		milliseconds = fiveMinutes
	}
	return time.Duration(milliseconds) * time.Millisecond
}

func address() string {
	if port := os.Getenv("HEALTH_PORT"); port != "" {
		return ":" + port
	}
	return ":8080"
}
