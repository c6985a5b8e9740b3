// A member of a consumer group, with franz-go: https://github.com/twmb/franz-go.
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
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	commitEvery   = time.Second
	lastCommitMax = 10 * time.Second
	batch         = 100
)

var errFenced = errors.New("fenced: another process has this instance id")

// process is your work. A record may come twice, so the second time has to change nothing.
func process(record *kgo.Record) {
	fmt.Printf("processed %s-%d@%d\n", record.Topic, record.Partition, record.Offset)
}

func main() {
	asked, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(asked); err != nil {
		log.Fatal(err)
	}
}

// run works until it is asked to stop.
func run(asked context.Context) error {
	options, err := settings(os.Getenv)
	if err != nil {
		return err
	}
	patience, err := milliseconds(os.Getenv, "KAFKA_MAX_POLL_INTERVAL_MS", defaultMaxPollInterval)
	if err != nil {
		return err
	}
	state := &health{patience: patience}
	go func() { log.Fatal(state.serve(address())) }()
	client, err := kgo.NewClient(append(options,
		kgo.AutoCommitMarks(), // what is marked, once a second: an offset after its record's work, not before
		kgo.AutoCommitInterval(commitEvery),
		kgo.BlockRebalanceOnPoll(), // no partition goes while its record is worked on
		kgo.OnPartitionsRevoked(func(ctx context.Context, client *kgo.Client, _ map[string][]int32) { commit(ctx, client) }),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { log.Printf("lost %v", lost) }),
	)...)
	if err != nil {
		return err
	}
	err = consume(asked, client, state)
	state.ready.Store(false)
	if errors.Is(err, errFenced) { // our replacement works already: wait for SIGTERM and do nothing
		log.Print(err)
		wait(asked, state)
		err = nil
	} else if err == nil {
		commit(context.Background(), client)
	}
	client.CloseAllowingRebalance() // a static member stays in its group, and keeps its partitions
	return err
}

// consume polls until it is asked to stop (nil), or until nothing can be done any more.
func consume(asked context.Context, client *kgo.Client, state *health) error {
	for asked.Err() == nil {
		state.turn()
		state.ready.Store(true)
		poll, done := context.WithTimeout(asked, time.Second)
		fetches := client.PollRecords(poll, batch)
		done()
		for _, each := range fetches.Errors() {
			if errors.Is(each.Err, kerr.FencedInstanceID) {
				return errFenced
			}
			if !errors.Is(each.Err, context.DeadlineExceeded) && !errors.Is(each.Err, context.Canceled) {
				log.Printf("%s-%d: %v", each.Topic, each.Partition, each.Err)
			}
		}
		for records := fetches.RecordIter(); !records.Done() && asked.Err() == nil; {
			record := records.Next()
			process(record)
			client.MarkCommitRecords(record)
		}
		client.AllowRebalance()
	}
	return nil
}

// commit waits for the answer: what is done is known before anybody else gets these partitions.
func commit(ctx context.Context, client *kgo.Client) {
	limited, done := context.WithTimeout(ctx, lastCommitMax)
	defer done()
	if err := client.CommitMarkedOffsets(limited); err != nil {
		log.Printf("not committed, so these records come again: %v", err)
	}
}

func wait(asked context.Context, state *health) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-asked.Done():
			return
		case <-every.C:
			state.turn()
		}
	}
}

func address() string {
	if port := os.Getenv("HEALTH_PORT"); port != "" {
		return ":" + port
	}
	return ":8080"
}
