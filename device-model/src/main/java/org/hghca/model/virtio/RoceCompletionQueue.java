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

  RoceCompletionQueue(int entries) {
    this.entries = entries;
  }

  Armed armed() {
    return armed;
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
