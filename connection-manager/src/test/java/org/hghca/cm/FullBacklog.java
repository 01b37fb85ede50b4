package org.hghca.cm;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/** Waits until a listener has had no place for a request, of which its log tells. */
final class FullBacklog extends AppenderBase<ILoggingEvent> implements AutoCloseable {
  private final Logger logger = (Logger) LoggerFactory.getLogger(Listening.class);
  private final CountDownLatch full = new CountDownLatch(1);

  FullBacklog() {
    logger.setLevel(Level.DEBUG);
    logger.setAdditive(false);
    logger.addAppender(this);
    start();
  }

  @Override
  protected void append(ILoggingEvent event) {
    if (event.getFormattedMessage().endsWith("is full")) {
      full.countDown();
    }
  }

  void await() throws InterruptedException {
    assertThat(full.await(20, TimeUnit.SECONDS)).as("the backlog is full").isTrue();
  }

  @Override
  public void close() {
    logger.detachAppender(this);
    logger.setLevel(null);
    logger.setAdditive(true);
    stop();
  }
}
