package org.hghca.tools.launch;

import ch.qos.logback.classic.ClassicConstants;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import ch.qos.logback.core.spi.ContextAwareBase;

/**
 * The log of the command line: warnings on standard error, and what a server has to say. In Java:
 * logback takes a third of a second of processor time to read the same from a file.
 */
public final class LogConfigurator extends ContextAwareBase implements Configurator {
  /** The level, for which {@code --debug} sets DEBUG. */
  public static final String LEVEL = "hghca.log";

  private static final String FORMAT = "hghca.log.format";
  private static final String SERVER = "org.hghca.vfio.user.UserServer";

  /** Used by the service loader. */
  public LogConfigurator() {}

  @Override
  public ExecutionStatus configure(LoggerContext logging) {
    if (System.getProperty(ClassicConstants.CONFIG_FILE_PROPERTY) != null) {
      return ExecutionStatus.INVOKE_NEXT_IF_ANY; // the user's file
    }
    ConsoleAppender<ILoggingEvent> lines = new ConsoleAppender<>();
    lines.setContext(logging);
    lines.setTarget("System.err");
    lines.setEncoder(encoder(logging, System.getProperty(FORMAT, "text")));
    lines.start();
    Level level = Level.toLevel(System.getProperty(LEVEL), null);
    logging.getLogger(SERVER).setLevel(level == null ? Level.INFO : level);
    Logger root = logging.getLogger(Logger.ROOT_LOGGER_NAME);
    root.setLevel(level == null ? Level.WARN : level);
    root.addAppender(lines);
    return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
  }

  /** The lines of a format, {@code text} or {@code json}. */
  static Encoder<ILoggingEvent> encoder(LoggerContext logging, String format) {
    Encoder<ILoggingEvent> encoder = format.equals("json") ? json() : text(logging);
    encoder.setContext(logging);
    encoder.start();
    return encoder;
  }

  private static Encoder<ILoggingEvent> text(LoggerContext logging) {
    LogLine line = new LogLine();
    line.setContext(logging);
    line.start();
    LayoutWrappingEncoder<ILoggingEvent> encoder = new LayoutWrappingEncoder<>();
    encoder.setLayout(line);
    return encoder;
  }

  private static Encoder<ILoggingEvent> json() {
    JsonEncoder encoder = new JsonEncoder();
    encoder.setWithSequenceNumber(false);
    encoder.setWithNanoseconds(false);
    encoder.setWithContext(false);
    encoder.setWithMDC(false);
    encoder.setWithMessage(false);
    encoder.setWithArguments(false);
    encoder.setWithFormattedMessage(true);
    return encoder;
  }
}
