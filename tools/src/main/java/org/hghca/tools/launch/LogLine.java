package org.hghca.tools.launch;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Objects;
import org.slf4j.event.KeyValuePair;

/**
 * A line of the log: time, level, what it is about, the class that says it, and what it says. A
 * layout of its own: logback's pattern layout links a converter for each of its 60 words first.
 */
final class LogLine extends LayoutBase<ILoggingEvent> {
  @Override
  public String doLayout(ILoggingEvent event) {
    StringBuilder line = new StringBuilder();
    Time.FORMAT.formatTo(event.getInstant().atZone(ZoneId.systemDefault()), line);
    line.append(' ').append("%-5s".formatted(event.getLevel())).append(' ');
    List<KeyValuePair> pairs = Objects.requireNonNullElse(event.getKeyValuePairs(), List.of());
    for (KeyValuePair pair : pairs) {
      line.append(pair.key).append('=').append(pair.value).append(' ');
    }
    String logger = event.getLoggerName();
    line.append(logger, logger.lastIndexOf('.') + 1, logger.length());
    line.append(": ").append(event.getFormattedMessage()).append(System.lineSeparator());
    if (event.getThrowableProxy() != null) {
      line.append(ThrowableProxyUtil.asString(event.getThrowableProxy()));
    }
    return line.toString();
  }

  /** Made for the first line: most commands log none. */
  private static final class Time {
    private static final DateTimeFormatter FORMAT =
        DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX");

    private Time() {}
  }
}
