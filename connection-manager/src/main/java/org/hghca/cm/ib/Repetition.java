package org.hghca.cm.ib;

import java.util.concurrent.TimeUnit;
import org.hghca.verbs.AddressVector;

/** A message that is sent until it is answered. Used under the agent's lock. */
final class Repetition {
  private final MadAgent agent;
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
      MadAgent agent, byte[] mad, AddressVector to, long interval, int retries, Runnable givenUp) {
    this.agent = agent;
    this.mad = mad;
    this.to = to;
    this.interval = interval;
    this.retries = retries;
    this.givenUp = givenUp;
    this.began = agent.now();
  }

  /**
   * Sends a message for the first time.
   *
   * @param interval nanoseconds until it is repeated
   * @param retries how often it is repeated
   * @param givenUp what happens when there is no answer to the last one
   */
  static Repetition begin(
      MadAgent agent, byte[] mad, AddressVector to, long interval, int retries, Runnable givenUp) {
    Repetition repetition = new Repetition(agent, mad, to, interval, retries, givenUp);
    repetition.sendAndWait();
    return repetition;
  }

  private void sendAndWait() {
    again();
    timer = agent.after(interval, this::expired);
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
    agent.send(mad, to);
  }

  private void again() {
    sent++;
    postponed = false;
    agent.send(mad, to);
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
    agent.cancel(timer);
    timer = agent.after(nanos, this::expired);
    return true;
  }

  /** Ends it: there is an answer, or none is wanted. Idempotent. */
  void end() {
    agent.cancel(timer);
  }

  /** The message, its transmissions and their destination, for an error message. */
  String describe(String message) {
    return "%d times %s to %s in %.1f s without an answer"
        .formatted(
            sent,
            message,
            to.destination().address().getHostAddress(),
            (agent.now() - began) / (double) TimeUnit.SECONDS.toNanos(1));
  }
}
