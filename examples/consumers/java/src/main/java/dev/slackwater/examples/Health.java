package dev.slackwater.examples;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * {@code /livez} fails when the loop stands still, {@code /readyz} before the first poll and after the consumer was
 * fenced or asked to stop.
 */
final class Health {
    private final Duration patience;
    private volatile long turned = System.nanoTime();
    private volatile boolean ready;

    Health(Duration patience) {
        this.patience = patience;
    }

    void turn() {
        turned = System.nanoTime();
    }

    void ready(boolean now) {
        ready = now;
    }

    HttpServer serve(int port) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
        answer(server, "/livez", () -> System.nanoTime() - turned < patience.toNanos());
        answer(server, "/readyz", () -> ready);
        server.start();
        return server;
    }

    private static void answer(HttpServer server, String path, BooleanSupplier ok) {
        server.createContext(path, exchange -> {
            exchange.sendResponseHeaders(ok.getAsBoolean() ? 200 : 503, -1);
            exchange.close();
        });
    }
}
