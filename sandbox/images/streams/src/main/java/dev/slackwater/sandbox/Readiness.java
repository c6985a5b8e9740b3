package dev.slackwater.sandbox;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.streams.KafkaStreams;

/**
 * Ready is who is RUNNING: Kafka Streams is REBALANCING until each of its active tasks has its state.
 *
 * <p>{@code /ready} answers 200 then and 503 else; {@code /restored} says how many records were read from changelogs.
 */
final class Readiness {
  private Readiness() {}

  static void serve(int port, KafkaStreams streams, Restored restored) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
    server.createContext(
        "/ready",
        exchange -> {
          KafkaStreams.State state = streams.state();
          answer(exchange, state == KafkaStreams.State.RUNNING ? 200 : 503, state.name());
        });
    server.createContext("/restored", exchange -> answer(exchange, 200, Long.toString(restored.records())));
    server.start();
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] body = (text + "\n").getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, body.length);
    try (var out = exchange.getResponseBody()) {
      out.write(body);
    }
  }
}
