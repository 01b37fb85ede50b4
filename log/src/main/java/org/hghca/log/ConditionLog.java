package org.hghca.log;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The log of a class. A condition, which is a message of a device, is logged when it occurs for the
 * first time; its repetitions within a minute are at DEBUG, and one line at the end of the minute
 * has their number. So neither a broken card nor a hostile peer fills a disk. Thread-safe.
 *
 * <p>Messages have SLF4J's placeholders, and may have a {@link Throwable} behind the arguments: a
 * backend prints its stack trace, so it is for failures of the program, and a reason that is
 * expected is an argument. The data path logs nothing.
 */
public final class ConditionLog {
  private final Logger log;
  private final Conditions conditions;

  ConditionLog(Logger log, Conditions conditions) {
    this.log = log;
    this.conditions = conditions;
  }

  /** The log of a class. */
  public static ConditionLog of(Class<?> owner) {
    return new ConditionLog(LoggerFactory.getLogger(owner), Conditions.SHARED);
  }

  /** Something has failed for good, or is a bug. */
  public void error(About about, String format, Object... arguments) {
    conditions.log(log, Level.ERROR, about, format, arguments);
  }

  /** Something has failed, and the program continues. */
  public void warn(About about, String format, Object... arguments) {
    conditions.log(log, Level.WARN, about, format, arguments);
  }

  /** Something that is expected has happened. */
  public void info(About about, String format, Object... arguments) {
    conditions.log(log, Level.INFO, about, format, arguments);
  }

  /** For who searches a fault: each time. */
  public void debug(About about, String format, Object... arguments) {
    if (log.isDebugEnabled()) {
      about.on(log.atDebug()).log(format, arguments);
    }
  }

  /** Logs the numbers of repetitions that are not logged yet, and regards each condition as new. */
  public static void reportAll() {
    Conditions.SHARED.reportAll();
  }
}
