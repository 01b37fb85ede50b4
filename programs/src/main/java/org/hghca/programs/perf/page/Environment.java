package org.hghca.programs.perf.page;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.hghca.verbs.Context;
import org.hghca.verbs.GidEntry;
import org.hghca.verbs.PortAttributes;

/** Where something was measured: what a reader needs to measure it again. */
public final class Environment {
  private static final String MODEL = "model name";

  private Environment() {}

  /** The machine and the JVM, by name. */
  public static Map<String, String> machine() {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    facts.put("CPU", "%s, %d for this process".formatted(cpu(), processors()));
    facts.put(
        "JVM",
        "%s %s, heap of at most %d MiB"
            .formatted(
                System.getProperty("java.vm.name"),
                System.getProperty("java.vm.version"),
                Runtime.getRuntime().maxMemory() >> 20));
    return facts;
  }

  /** The time of day, by name. */
  public static Map<String, String> time() {
    return Map.of("time", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
  }

  private static int processors() {
    return Runtime.getRuntime().availableProcessors();
  }

  private static String cpu() {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith(MODEL))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse(System.getProperty("os.arch"));
    } catch (IOException e) {
      return System.getProperty("os.arch");
    }
  }

  /**
   * A device and its port, by name.
   *
   * @param port from 1
   */
  public static Map<String, String> device(Context context, int port) {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("device", context.device().name());
    facts.put("locator", context.device().locator());
    for (DeviceFacts more : ServiceLoader.load(DeviceFacts.class)) {
      facts.putAll(more.of(context));
    }
    PortAttributes attributes = context.queryPort(port);
    facts.put(
        "port",
        "%d, %s, MTU %d of %d, MAC %012x"
            .formatted(
                port,
                attributes.state().text(),
                attributes.activeMtu().bytes(),
                attributes.maxMtu().bytes(),
                attributes.mac()));
    facts.put(
        "GIDs",
        context.queryGidTable().stream()
            .filter(entry -> entry.port() == port && entry.gid().interfaceId() != 0)
            .map(Environment::gid)
            .collect(Collectors.joining(", ")));
    return facts;
  }

  private static String gid(GidEntry entry) {
    return "%d %s %s".formatted(entry.index(), entry.gid(), entry.type().text());
  }
}
