package dev.slackwater.sandbox;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** One JSON event a line, as Kafka's own system-test clients print them. Values are numbers, or words without quotes. */
final class Events {
  private Events() {}

  static void print(String name, Map<String, Object> fields) {
    TreeMap<String, Object> all = new TreeMap<>(fields);
    all.put("name", name);
    all.put("timestamp", System.currentTimeMillis());
    String body =
        all.entrySet().stream()
            .map(each -> '"' + each.getKey() + "\":" + text(each.getValue()))
            .collect(Collectors.joining(","));
    System.out.println("{" + body + "}");
  }

  private static String text(Object value) {
    return value instanceof Number ? value.toString() : '"' + value.toString() + '"';
  }
}
