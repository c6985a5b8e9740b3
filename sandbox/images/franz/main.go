// Franz is a consumer group's member by the franz-go client: small, ready in a moment, and able to offer the eager and
// the cooperative balancer at once, as Java is and librdkafka is not (F1). Its settings come from KAFKA_* variables. Where
// only the brokers' part is looked at it stands in for Java: it knows the names of Java's assignors, and when nothing is
// set offers what Java offers (F5).
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	refused       = 2 // exit codes of the Python consumer, in sandbox/workload/consumer.py
	fatal         = 3
	readyAddress  = ":8080"
	commitEvery   = time.Second
	lastCommitMax = 3 * time.Second
)

const javas = "org.apache.kafka.clients.consumer."

var balancers = map[string]kgo.GroupBalancer{
	"range":                             kgo.RangeBalancer(),
	"cooperative-sticky":                kgo.CooperativeStickyBalancer(),
	javas + "RangeAssignor":             kgo.RangeBalancer(),
	javas + "CooperativeStickyAssignor": kgo.CooperativeStickyBalancer(),
}

func main() {
	options, err := options(os.Getenv)
	if err != nil {
		log.Print(err)
		os.Exit(refused)
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		log.Printf("the client refuses its settings: %v", err)
		os.Exit(refused)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	go serveReadiness()
	if err := consume(ctx, client); err != nil {
		log.Printf("fatal: %v", err)
		os.Exit(fatal)
	}
	finish(client)
}

// options reads all settings; an error is a sentence that names the variable.
func options(get func(string) string) ([]kgo.Opt, error) {
	chosen := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(get("KAFKA_BOOTSTRAP_SERVERS"), ",")...),
		kgo.ConsumerGroup(get("KAFKA_GROUP_ID")),
		kgo.ConsumeTopics(strings.Split(get("TOPICS"), ",")...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.AutoCommitInterval(commitEvery),
		kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelInfo, nil)),
		kgo.OnPartitionsAssigned(say("assigned")),
		kgo.OnPartitionsRevoked(say("revoked")),
		kgo.OnPartitionsLost(say("lost")),
	}
	if id := get("KAFKA_GROUP_INSTANCE_ID"); id != "" {
		chosen = append(chosen, kgo.InstanceID(id))
	}
	offered, err := offer(get("KAFKA_PARTITION_ASSIGNMENT_STRATEGY"))
	if err != nil {
		return nil, err
	}
	chosen = append(chosen, kgo.Balancers(offered...))
	times := map[string]func(time.Duration) kgo.GroupOpt{
		"KAFKA_SESSION_TIMEOUT_MS":    kgo.SessionTimeout,
		"KAFKA_HEARTBEAT_INTERVAL_MS": kgo.HeartbeatInterval,
	}
	for name, option := range times {
		if text := get(name); text != "" {
			milliseconds, err := strconv.Atoi(text)
			if err != nil {
				return nil, fmt.Errorf("%s is %q, which is not a number of milliseconds", name, text)
			}
			chosen = append(chosen, option(time.Duration(milliseconds)*time.Millisecond))
		}
	}
	return chosen, nil
}

func offer(names string) ([]kgo.GroupBalancer, error) {
	if names == "" {
		return []kgo.GroupBalancer{balancers["range"], balancers["cooperative-sticky"]}, nil
	}
	var offered []kgo.GroupBalancer
	for _, name := range strings.Split(names, ",") {
		balancer, known := balancers[name]
		if !known {
			return nil, fmt.Errorf("KAFKA_PARTITION_ASSIGNMENT_STRATEGY names %q, which is no range and no cooperative-sticky", name)
		}
		offered = append(offered, balancer)
	}
	return offered, nil
}

// consume polls until it is told to stop (nil), or until another process holds this member's instance id.
func consume(ctx context.Context, client *kgo.Client) error {
	for {
		fetches := client.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		for _, each := range fetches.Errors() {
			if errors.Is(each.Err, kerr.FencedInstanceID) {
				return each.Err
			}
			log.Printf("%s-%d: %v", each.Topic, each.Partition, each.Err)
		}
	}
}

// finish commits what was read, and closes; a static member stays in its group (F10).
func finish(client *kgo.Client) {
	ctx, done := context.WithTimeout(context.Background(), lastCommitMax)
	defer done()
	if err := client.CommitUncommittedOffsets(ctx); err != nil {
		log.Printf("the last commit failed: %v", err)
	}
	client.Close()
}

func say(what string) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
		log.Printf("%s %v", what, partitions)
	}
}

func serveReadiness() {
	http.HandleFunc("/ready", func(answer http.ResponseWriter, _ *http.Request) { answer.WriteHeader(http.StatusOK) })
	log.Fatal(http.ListenAndServe(readyAddress, nil))
}
