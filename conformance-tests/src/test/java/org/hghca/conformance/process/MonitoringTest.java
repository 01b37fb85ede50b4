package org.hghca.conformance.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;
import org.hghca.verbs.Context;
import org.hghca.verbs.Counters;
import org.hghca.verbs.RdmaDevices;
import org.junit.jupiter.api.Test;

/** Flight Recorder and JMX show the same counters of a context as the context itself. */
class MonitoringTest {
  private static final MBeanServer BEANS = ManagementFactory.getPlatformMBeanServer();

  private static String capitalized(String name) {
    return name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
  }

  /** Every counter of {@link Counters}, by name. */
  private static Map<String, Long> numbers(Counters counters) throws ReflectiveOperationException {
    Map<String, Long> numbers = new TreeMap<>();
    for (Method method : Counters.class.getDeclaredMethods()) {
      if (method.getReturnType() == long.class && method.getParameterCount() == 0) {
        numbers.put(method.getName(), (Long) method.invoke(counters));
      }
    }
    return numbers;
  }

  private static ObjectName bean(String device) throws Exception {
    return new ObjectName(
        "org.hghca:type=Counters,device=%s,*".formatted(ObjectName.quote(device)));
  }

  private static RecordedEvent recorded(Predicate<RecordedEvent> wanted) throws Exception {
    CompletableFuture<RecordedEvent> first = new CompletableFuture<>();
    try (RecordingStream stream = new RecordingStream()) {
      stream.setReuse(false);
      stream.enable("hghca.Counters").withPeriod(Duration.ofMillis(10));
      stream.onEvent(
          "hghca.Counters",
          event -> {
            if (wanted.test(event)) {
              first.complete(event);
            }
          });
      stream.startAsync();
      return first.get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void flightRecorderShowsTheCountersOfAnOpenContext() throws Exception {
    try (Context context = RdmaDevices.open("model:recorded")) {
      String device = context.device().name();
      RecordedEvent event = recorded(e -> e.getString("device").equals(device));

      Map<String, Long> numbers = numbers(context.counters());
      assertThat(numbers).containsKeys("commands", "dmaFaults").hasSizeGreaterThan(12);
      assertThat(numbers.get("commands")).isPositive();
      assertThat(numbers)
          .allSatisfy((name, value) -> assertThat(event.getLong(name)).as(name).isEqualTo(value));
    }
  }

  @Test
  void flightRecorderShowsNothingOfAClosedContext() throws Exception {
    String closed;
    try (Context context = RdmaDevices.open("model:closed")) {
      closed = context.device().name();
    }
    try (Context context = RdmaDevices.open("model:open")) {
      String open = context.device().name();
      CompletableFuture<Boolean> sawClosed = new CompletableFuture<>();
      recorded(
          event -> {
            if (event.getString("device").equals(closed)) {
              sawClosed.complete(true);
            }
            return event.getString("device").equals(open);
          });
      assertThat(sawClosed).isNotDone();
    }
  }

  @Test
  void jmxShowsTheCountersWhileTheContextIsOpen() throws Exception {
    System.setProperty("hghca.jmx", "true");
    ObjectName name;
    try (Context context = RdmaDevices.open("model:managed")) {
      assertThat(BEANS.queryNames(bean(context.device().name()), null)).hasSize(1);
      name = BEANS.queryNames(bean(context.device().name()), null).iterator().next();
      Map<String, Long> shown = new TreeMap<>();
      for (MBeanAttributeInfo attribute : BEANS.getMBeanInfo(name).getAttributes()) {
        shown.put(attribute.getName(), (Long) BEANS.getAttribute(name, attribute.getName()));
      }

      Map<String, Long> told = new TreeMap<>();
      numbers(context.counters()).forEach((key, value) -> told.put(capitalized(key), value));
      assertThat(shown).isEqualTo(told);
      assertThat(shown.get("Commands")).isPositive();
    } finally {
      System.clearProperty("hghca.jmx");
    }
    assertThat(BEANS.isRegistered(name)).isFalse();
  }

  @Test
  void nothingIsRegisteredByDefault() throws Exception {
    try (Context context = RdmaDevices.open("model:unmanaged")) {
      assertThat(BEANS.queryNames(bean(context.device().name()), null)).isEmpty();
    }
  }
}
