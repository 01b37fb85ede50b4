package org.hghca.cm;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.hghca.log.ConditionLog;
import org.slf4j.LoggerFactory;

/** The warnings of a class. */
final class Warnings extends AppenderBase<ILoggingEvent> implements AutoCloseable {
  private final List<String> messages = new CopyOnWriteArrayList<>();
  private final Logger logger;

  Warnings(Class<?> of) {
    ConditionLog.reportAll(); // what other tests have logged is new again
    logger = (Logger) LoggerFactory.getLogger(of);
    logger.setLevel(Level.WARN);
    logger.setAdditive(false);
    logger.addAppender(this);
    start();
  }

  @Override
  protected void append(ILoggingEvent event) {
    messages.add(event.getFormattedMessage());
  }

  List<String> messages() {
    return messages;
  }

  @Override
  public void close() {
    logger.detachAppender(this);
    logger.setLevel(null);
    logger.setAdditive(true);
    stop();
  }
}
