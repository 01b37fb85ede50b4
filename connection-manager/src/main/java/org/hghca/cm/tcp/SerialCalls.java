package org.hghca.cm.tcp;

import java.util.ArrayDeque;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;

/**
 * Makes calls to a program one after another, on threads of its own. A call that throws is logged,
 * and the next follows. Thread-safe.
 */
final class SerialCalls {
  private static final ConditionLog LOG = ConditionLog.of(SerialCalls.class);

  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private boolean held;
  private boolean running;
  private boolean closed;

  /**
   * Calls to one program.
   *
   * @param held whether they wait for {@link #release}
   */
  SerialCalls(boolean held) {
    this.held = held;
  }

  /** Begins with the calls. */
  synchronized void release() {
    held = false;
    begin();
  }

  /** Makes a call, after all before it; does nothing after {@link #close}. */
  synchronized void add(Runnable call) {
    if (closed) {
      return;
    }
    waiting.add(call);
    begin();
  }

  private void begin() {
    if (!held && !running && !waiting.isEmpty()) {
      running = true;
      Thread.ofVirtual().name("hghca-cm-events").start(this::run);
    }
  }

  private void run() {
    for (Runnable call = next(); call != null; call = next()) {
      try {
        call.run();
      } catch (RuntimeException e) {
        LOG.error(About.NOTHING, "a handler of events of the connection manager has thrown", e);
      }
    }
  }

  private synchronized Runnable next() {
    Runnable call = waiting.poll();
    running = call != null;
    return call;
  }

  /** No call begins after this. */
  synchronized void close() {
    closed = true;
    waiting.clear();
  }
}
