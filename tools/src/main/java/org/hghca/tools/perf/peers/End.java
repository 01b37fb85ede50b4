package org.hghca.tools.perf.peers;

import java.io.IOException;

/** One end of a way to move messages. One thread at a time. */
interface End extends AutoCloseable {
  /** Whether it carries messages of any size, as streams need them. */
  default boolean hasStreams() {
    return true;
  }

  /**
   * Does this end's part of a task, while the other end does its own.
   *
   * @return what came of it; at the server only how long the processor ran counts
   * @throws org.hghca.programs.perf.PerfException when a message is not what was sent
   */
  Outcome run(Task task) throws IOException, InterruptedException;

  @Override
  void close() throws IOException;
}
