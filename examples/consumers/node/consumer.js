// A member of a consumer group, with confluent-kafka-javascript:
// https://github.com/confluentinc/confluent-kafka-javascript.
//
// What each part is for stands in docs/prepare-your-consumer.md. Replace work by yours.
'use strict';

const http = require('node:http');
const { setTimeout: pause } = require('node:timers/promises');
const { CODES, KafkaConsumer } = require('@confluentinc/kafka-javascript');

const KNOCK_EVERY_MS = 100;
const POLL_MS = 200;
const BATCH = 100;
const { ERRORS } = CODES;
const UNRELEASED_INSTANCE_ID = 111;

/** Your work. A record may come twice, so the second time has to change nothing. */
async function work(record) {
  console.log(`processed ${record.topic}-${record.partition}@${record.offset}`);
}

const state = { asked: false, ready: false, turned: Date.now() };

/** KAFKA_SESSION_TIMEOUT_MS is session.timeout.ms, and so on. */
function clientProperties(environment) {
  const properties = {
    'auto.offset.reset': 'earliest',
    'enable.auto.commit': true, // of what was stored, once a second
    'auto.commit.interval.ms': 1000,
    'enable.auto.offset.store': false, // we store an offset after its record's work, not before
  };
  for (const [name, text] of Object.entries(environment)) {
    if (name.startsWith('KAFKA_')) {
      properties[name.slice('KAFKA_'.length).toLowerCase().replaceAll('_', '.')] = text;
    }
  }
  return properties;
}

/** /livez fails when the loop stands still, /readyz before the first poll and after being fenced or stopped. */
function serveHealth(port, patienceMs) {
  const checks = { '/livez': () => Date.now() - state.turned < patienceMs, '/readyz': () => state.ready };
  http
    .createServer((request, answer) => {
      const check = checks[request.url];
      answer.writeHead(check === undefined ? 404 : check() ? 200 : 503).end();
    })
    .listen(port);
}

/** How a consumer has to end for an error that it cannot recover from; null where it can. */
function ending(error) {
  const said = String(error.message).toLowerCase();
  if (error.code === ERRORS.ERR_FENCED_INSTANCE_ID || said.includes('fenced')) return 'fenced';
  if (error.code === UNRELEASED_INSTANCE_ID || said.includes('still used by another member')) return 'unreleased';
  return error.isFatal || error.code === ERRORS.ERR__FATAL ? 'fatal' : null;
}

/** What is done, before anybody else gets these partitions: wait for the answer. */
function commit(consumer) {
  try {
    consumer.commitSync();
  } catch (error) {
    if (error.code !== ERRORS.ERR__NO_OFFSET) {
      console.log(`not committed, so these records come again: ${error.message}`);
    }
  }
}

/** Runs as `this`; partitions that are lost has somebody else already: nothing can be committed. */
function rebalance(event, partitions) {
  const cooperative = this.rebalanceProtocol() === 'COOPERATIVE';
  if (event.code === ERRORS.ERR__ASSIGN_PARTITIONS) {
    cooperative ? this.incrementalAssign(partitions) : this.assign(partitions);
    return;
  }
  if (!this.assignmentLost()) commit(this);
  cooperative ? this.incrementalUnassign(partitions) : this.unassign();
}

function records(consumer) {
  return new Promise((resolve, reject) => {
    consumer.consume(BATCH, (error, found) => (error ? reject(error) : resolve(found)));
  });
}

/** One consumer, from joining to leaving: 'asked', 'fenced', 'unreleased' or 'fatal'. */
async function consume(properties, topics) {
  let ended = null;
  const consumer = new KafkaConsumer({ ...properties, rebalance_cb: rebalance }, {});
  const look = (error) => {
    ended ??= ending(error);
    console.log(`${error.message}`);
  };
  consumer.on('event.error', look);
  await new Promise((resolve, reject) => consumer.connect({}, (error) => (error ? reject(error) : resolve())));
  consumer.setDefaultConsumeTimeout(POLL_MS);
  consumer.subscribe(topics);
  while (!state.asked && ended === null) {
    state.turned = Date.now();
    state.ready = true;
    for (const record of await records(consumer).catch((error) => (look(error), []))) {
      if (state.asked || ended !== null) break;
      await work(record);
      consumer.offsetsStore([{ topic: record.topic, partition: record.partition, offset: record.offset + 1 }]);
    }
  }
  if (ended === null) commit(consumer);
  // A static member of a classic group stays in it, and keeps its partitions.
  await new Promise((resolve) => consumer.disconnect(resolve));
  return ended ?? 'asked';
}

async function main() {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => (state.asked = true));
  const properties = clientProperties(process.env);
  serveHealth(Number(process.env.HEALTH_PORT ?? 8080), Number(properties['max.poll.interval.ms'] ?? 300000));
  const topics = process.env.TOPICS.split(',');
  let ended = await consume(properties, topics);
  while (ended === 'unreleased' && !state.asked) {
    console.log('the instance id is in use; trying again');
    state.turned = Date.now();
    await pause(KNOCK_EVERY_MS);
    ended = await consume(properties, topics);
  }
  state.ready = false;
  if (ended === 'fenced') console.log('fenced: another process has this instance id');
  while (ended === 'fenced' && !state.asked) {
    // Our replacement works already: wait for SIGTERM and do nothing.
    state.turned = Date.now();
    await pause(KNOCK_EVERY_MS);
  }
  process.exit(ended === 'fatal' ? 1 : 0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
