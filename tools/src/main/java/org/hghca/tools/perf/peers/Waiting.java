package org.hghca.tools.perf.peers;

/** How an end waits for a message. */
enum Waiting {
  /** A platform thread looks again and again. */
  SPINNING,
  /** A platform thread sleeps until there is one. */
  SLEEPING,
  /** A virtual thread sleeps until there is one. */
  VIRTUAL,
  /** A platform thread sleeps in a selector. */
  SELECTING
}
