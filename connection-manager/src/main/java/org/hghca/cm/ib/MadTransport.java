package org.hghca.cm.ib;

import java.util.OptionalInt;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.Gid;

/** What brings datagrams from one queue pair 1 to another, and the time. Thread-safe. */
interface MadTransport {

  /** Sends a datagram; it may get lost. Neither waits nor throws. */
  void send(byte[] mad, AddressVector to);

  /** The time, as {@link System#nanoTime}. */
  long nanoTime();

  /** Asks for {@link Engine#step} soon, on the thread of the carrier. */
  void wake();

  /** The index of a GID in the table of the port; empty when it is not one of its own. */
  OptionalInt indexOf(Gid gid);
}
