package org.hghca.cm.ib;

import java.util.concurrent.TimeUnit;
import org.hghca.verbs.AddressVector;

/** A message that is sent until it is answered. Used under the engine's lock. */
final class Repetition {
  private final Engine engine;
  private final byte[] mad;
  private final AddressVector to;
  private final long interval;
  private final int retries;
  private final Runnable givenUp;
  private final long began;
  private int sent;

  /** Whether the peer has asked for time since it was sent last. */
  private boolean postponed;

  private Timers.Timer timer;

  private Repetition(
      Engine engine, byte[] mad, AddressVector to, long interval, int retries, Runnable givenUp) {
    this.engine = engine;
    this.mad = mad;
    this.to = to;
    this.interval = interval;
    this.retries = retries;
    this.givenUp = givenUp;
    this.began = engine.now();
  }

  /**
   * Sends a message for the first time.
   *
   * @param interval nanoseconds until it is repeated
   * @param retries how often it is repeated
   * @param givenUp what happens when there is no answer to the last one
   */
  static Repetition begin(
      Engine engine, byte[] mad, AddressVector to, long interval, int retries, Runnable givenUp) {
    Repetition repetition = new Repetition(engine, mad, to, interval, retries, givenUp);
    repetition.sendAndWait();
    return repetition;
  }

  private void sendAndWait() {
    again();
    timer = engine.after(interval, this::expired);
  }

  private void expired() {
    if (sent <= retries) {
      sendAndWait();
    } else {
      givenUp.run();
    }
  }

  /** Sends it once more, beside the repetitions. */
  void resend() {
    engine.send(mad, to);
  }

  private void again() {
    sent++;
    postponed = false;
    engine.send(mad, to);
  }

  /**
   * Waits longer, since the peer says that it works on the answer: once for each time that the
   * message is sent.
   *
   * @return whether it was the first
   */
  boolean postpone(long nanos) {
    if (postponed) {
      return false;
    }
    postponed = true;
    engine.cancel(timer);
    timer = engine.after(nanos, this::expired);
    return true;
  }

  /** Ends it: there is an answer, or none is wanted. Idempotent. */
  void end() {
    engine.cancel(timer);
  }

  /** The message, its transmissions and their destination, for an error message. */
  String describe(String message) {
    return "%d times %s to %s in %.1f s without an answer"
        .formatted(
            sent,
            message,
            to.destination().address().getHostAddress(),
            (engine.now() - began) / (double) TimeUnit.SECONDS.toNanos(1));
  }
}
