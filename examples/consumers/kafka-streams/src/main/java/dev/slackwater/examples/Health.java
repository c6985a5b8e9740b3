package dev.slackwater.examples;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.BooleanSupplier;

/** {@code /livez} and {@code /readyz}, each answered by what it is given. */
final class Health {
    private Health() {}

    static void serve(int port, BooleanSupplier lives, BooleanSupplier ready) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
        answer(server, "/livez", lives);
        answer(server, "/readyz", ready);
        server.start();
    }

    private static void answer(HttpServer server, String path, BooleanSupplier ok) {
        server.createContext(path, exchange -> {
            exchange.sendResponseHeaders(ok.getAsBoolean() ? 200 : 503, -1);
            exchange.close();
        });
    }
}
