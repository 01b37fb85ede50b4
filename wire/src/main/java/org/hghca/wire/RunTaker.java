package org.hghca.wire;

/** What is behind a port and can execute runs of packets as they come. */
public interface RunTaker {
  /** Takes none. */
  RunTaker NONE = run -> false;

  /**
   * Takes a run, as if its packets had arrived one by one.
   *
   * @return false when nothing was done, and the packets must come one by one: something is not as
   *     usual, which one of them may have to report
   */
  boolean take(PacketRun run);
}
