package org.hghca.driver;

/**
 * The rings of a queue pair, and those where their requests complete: all that completions need to
 * know of it.
 */
final class QueuePairRings {
  private final int number;
  private final SendRing sends;
  private final ReceiveRing receives;
  private final Receives receiver;
  private final int receiveFlags;
  private final int bytesBeforeReceived;
  private final CompletionRing sendCompletions;
  private final CompletionRing receiveCompletions;
  private ErrorReports errors;

  /**
   * The rings of a queue pair.
   *
   * @param receiver where its receives stand: its own ring, or a shared receive queue
   */
  QueuePairRings(
      int number,
      SendRing sends,
      ReceiveRing receives,
      Receives receiver,
      GrhPlacement header,
      CompletionRing sendCompletions,
      CompletionRing receiveCompletions) {
    this.number = number;
    this.sends = sends;
    this.receives = receives;
    this.receiver = receiver;
    this.receiveFlags = header.flags();
    this.bytesBeforeReceived = header.bytesBefore();
    this.sendCompletions = sendCompletions;
    this.receiveCompletions = receiveCompletions;
  }

  /** Has errors reported. Before the queue pair is known to its completion queues. */
  void reportTo(ErrorReports reports) {
    this.errors = reports;
  }

  /** That of the queue pair. */
  int number() {
    return number;
  }

  SendRing sends() {
    return sends;
  }

  /** Its sends on a card that needs such a ring. */
  BudgetedSendRing budgetedSends() {
    return (BudgetedSendRing) sends;
  }

  ReceiveRing receives() {
    return receives;
  }

  /** Where its receives stand. */
  Receives receiver() {
    return receiver;
  }

  /** Flags of every receive that succeeds. */
  int receiveFlags() {
    return receiveFlags;
  }

  /** What the card does not count of a receive: where verbs have a global route header. */
  int bytesBeforeReceived() {
    return bytesBeforeReceived;
  }

  /** Where its sends complete. */
  CompletionRing sendCompletions() {
    return sendCompletions;
  }

  /** Where its receives complete. */
  CompletionRing receiveCompletions() {
    return receiveCompletions;
  }

  ErrorReports errors() {
    return errors;
  }
}
