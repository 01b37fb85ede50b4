package org.hghca.model.virtio;

/** A completion queue. */
final class RoceCompletionQueue {
  /** What completions raise the next interrupt. */
  enum Armed {
    NONE,
    SOLICITED,
    ANY
  }

  final int entries;

  /** Uses by queue pairs: one that has it for both directions counts twice. */
  int users;

  private Armed armed = Armed.NONE;
  private boolean dead;

  RoceCompletionQueue(int entries) {
    this.entries = entries;
  }

  /** Whether a completion was lost for lack of a buffer: there are no more. */
  boolean isDead() {
    return dead;
  }

  void die() {
    dead = true;
  }

  /** A completion is written; returns whether it raises the interrupt that was asked for. */
  boolean fires(boolean solicited) {
    boolean fires = armed == Armed.ANY || armed == Armed.SOLICITED && solicited;
    if (fires) {
      armed = Armed.NONE;
    }
    return fires;
  }

  /** Asks for an interrupt; a request for solicited completions lowers none for all. */
  void arm(boolean any) {
    if (any) {
      armed = Armed.ANY;
    } else if (armed == Armed.NONE) {
      armed = Armed.SOLICITED;
    }
  }
}
