module slackwater.dev/examples/consumers/go-confluent

go 1.26.0

require github.com/confluentinc/confluent-kafka-go/v2 v2.14.0
