package dev.slackwater.examples;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/**
 * Members of a consumer group, with Spring Boot.
 *
 * <p>What each part is for stands in docs/prepare-your-consumer.md. The work is {@link Orders}.
 */
@SpringBootApplication
public class Application {
    /** Runs until SIGTERM. */
    public static void main(String[] arguments) {
        SpringApplication application = new SpringApplication(Application.class);
        application.setRegisterShutdownHook(false);
        var context = application.run(arguments);
        // Java ends with 143 after SIGTERM, whatever was done: halt says that it ended well.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            context.close();
            Runtime.getRuntime().halt(0);
        }));
    }
}
