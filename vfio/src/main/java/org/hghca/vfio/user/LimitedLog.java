package org.hghca.vfio.user;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/**
 * Lines of one kind, of which clients can cause any number: one a minute has its level, the others
 * are at DEBUG. Thread-safe.
 */
final class LimitedLog {
  static final long INTERVAL = TimeUnit.MINUTES.toNanos(1);

  private final Logger log;
  private final Level level;
  private final LongSupplier clock;
  private long due;
  private long omitted;

  LimitedLog(Logger log, Level level) {
    this(log, level, System::nanoTime);
  }

  LimitedLog(Logger log, Level level, LongSupplier clock) {
    this.log = log;
    this.level = level;
    this.clock = clock;
    this.due = clock.getAsLong();
  }

  /**
   * Logs a line, with the number of those before it that were at DEBUG.
   *
   * @return the level that it had
   */
  synchronized Level log(String format, Object... arguments) {
    long now = clock.getAsLong();
    if (now - due < 0) {
      omitted++;
      log.atDebug().log(format, arguments);
      return Level.DEBUG;
    }
    String more = omitted == 0 ? "" : " (%d more since the last such line)".formatted(omitted);
    log.atLevel(level).log(format + more, arguments);
    omitted = 0;
    due = now + INTERVAL;
    return level;
  }
}
