package main

import (
	"crypto/tls"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

const defaultMaxPollInterval = 5 * time.Minute

var balancers = map[string]kgo.GroupBalancer{
	"range":              kgo.RangeBalancer(),
	"cooperative-sticky": kgo.CooperativeStickyBalancer(),
}

// settings turns the variables into options. franz-go has no property names, so each has its line here; an error is a
// sentence that names the variable.
func settings(get func(string) string) ([]kgo.Opt, error) {
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(get("KAFKA_BOOTSTRAP_SERVERS"), ",")...),
		kgo.ConsumerGroup(get("KAFKA_GROUP_ID")),
		kgo.ConsumeTopics(strings.Split(get("TOPICS"), ",")...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}
	if id := get("KAFKA_GROUP_INSTANCE_ID"); id != "" {
		options = append(options, kgo.InstanceID(id))
	}
	for name, option := range map[string]func(time.Duration) kgo.GroupOpt{
		"KAFKA_SESSION_TIMEOUT_MS":    kgo.SessionTimeout,
		"KAFKA_HEARTBEAT_INTERVAL_MS": kgo.HeartbeatInterval,
		"KAFKA_MAX_POLL_INTERVAL_MS":  kgo.RebalanceTimeout,
	} {
		given, err := milliseconds(get, name, 0)
		if err != nil {
			return nil, err
		}
		if given > 0 {
			options = append(options, option(given))
		}
	}
	for _, reader := range []func(func(string) string) ([]kgo.Opt, error){assignors, security} {
		read, err := reader(get)
		if err != nil {
			return nil, err
		}
		options = append(options, read...)
	}
	return options, nil
}

func milliseconds(get func(string) string, name string, otherwise time.Duration) (time.Duration, error) {
	text := get(name)
	if text == "" {
		return otherwise, nil
	}
	number, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("%s is %q, which is no number of milliseconds", name, text)
	}
	return time.Duration(number) * time.Millisecond, nil
}

func assignors(get func(string) string) ([]kgo.Opt, error) {
	names := get("KAFKA_PARTITION_ASSIGNMENT_STRATEGY")
	if names == "" {
		return nil, nil
	}
	var chosen []kgo.GroupBalancer
	for _, name := range strings.Split(names, ",") {
		balancer, known := balancers[name]
		if !known {
			return nil, fmt.Errorf("KAFKA_PARTITION_ASSIGNMENT_STRATEGY names %q; this program knows range and cooperative-sticky", name)
		}
		chosen = append(chosen, balancer)
	}
	return []kgo.Opt{kgo.Balancers(chosen...)}, nil
}

func security(get func(string) string) ([]kgo.Opt, error) {
	var options []kgo.Opt
	protocol := get("KAFKA_SECURITY_PROTOCOL")
	if strings.HasSuffix(protocol, "SSL") {
		options = append(options, kgo.DialTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	if !strings.HasPrefix(protocol, "SASL_") {
		return options, nil
	}
	user, password := get("KAFKA_SASL_USERNAME"), get("KAFKA_SASL_PASSWORD")
	mechanisms := map[string]sasl.Mechanism{
		"PLAIN":         plain.Auth{User: user, Pass: password}.AsMechanism(),
		"SCRAM-SHA-256": scram.Auth{User: user, Pass: password}.AsSha256Mechanism(),
		"SCRAM-SHA-512": scram.Auth{User: user, Pass: password}.AsSha512Mechanism(),
	}
	mechanism, known := mechanisms[get("KAFKA_SASL_MECHANISM")]
	if !known {
		return nil, fmt.Errorf("KAFKA_SASL_MECHANISM is %q; this program knows PLAIN and SCRAM", get("KAFKA_SASL_MECHANISM"))
	}
	return append(options, kgo.SASL(mechanism)), nil
}
