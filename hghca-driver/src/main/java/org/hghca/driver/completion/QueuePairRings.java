package org.hghca.driver.completion;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.hghca.driver.ring.ReceiveRing;
import org.hghca.driver.ring.Receives;
import org.hghca.driver.ring.SendRing;
import org.hghca.verbs.WcStatus;

/** The rings of a queue pair and its completion queues: everything that completions need of it. */
public final class QueuePairRings {
  private static final VarHandle FAILURES;

  static {
    try {
      FAILURES = MethodHandles.lookup().findVarHandle(QueuePairRings.class, "failures", long.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final int number;
  private final SendRing sends;
  private final ReceiveRing receives;
  private final Receives receiver;
  private final int receiveFlags;
  private final CompletionRing sendCompletions;
  private final CompletionRing receiveCompletions;
  private ErrorReports errors;

  /** Completions with errors; written by nobody as long as there are none. */
  private volatile long failures;

  /**
   * The rings of a queue pair.
   *
   * @param receiver the place of its receives: its own ring, or a shared receive queue
   * @param receiveFlags of {@link org.hghca.verbs.Completions}, of every receive that succeeds
   */
  public QueuePairRings(
      int number,
      SendRing sends,
      ReceiveRing receives,
      Receives receiver,
      int receiveFlags,
      CompletionRing sendCompletions,
      CompletionRing receiveCompletions) {
    this.number = number;
    this.sends = sends;
    this.receives = receives;
    this.receiver = receiver;
    this.receiveFlags = receiveFlags;
    this.sendCompletions = sendCompletions;
    this.receiveCompletions = receiveCompletions;
  }

  /**
   * Sets the receiver of errors. Must be called before the queue pair is registered with its
   * completion queues.
   */
  public void reportTo(ErrorReports reports) {
    this.errors = reports;
  }

  /** The number of the queue pair. */
  public int number() {
    return number;
  }

  public SendRing sends() {
    return sends;
  }

  public ReceiveRing receives() {
    return receives;
  }

  /** The place of its receives. */
  public Receives receiver() {
    return receiver;
  }

  /** Flags of every receive that succeeds. */
  public int receiveFlags() {
    return receiveFlags;
  }

  /** The completion queue of its sends. */
  public CompletionRing sendCompletions() {
    return sendCompletions;
  }

  /** The completion queue of its receives. */
  public CompletionRing receiveCompletions() {
    return receiveCompletions;
  }

  /** Counts a completion with an error, unless it is a flush. Under any lock. */
  public void countFailure(WcStatus status) {
    if (status != WcStatus.WR_FLUSH_ERR) {
      FAILURES.getAndAdd(this, 1L);
    }
  }

  /** Completions with an error other than a flush. */
  public long failures() {
    return failures;
  }

  public ErrorReports errors() {
    return errors;
  }
}
