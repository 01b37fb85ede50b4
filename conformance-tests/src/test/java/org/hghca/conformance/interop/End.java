package org.hghca.conformance.interop;

import java.util.List;
import org.hghca.verbs.QpState;

/**
 * One end of a connection: a queue pair and a buffer that the other end may read and write. Byte i
 * of the pattern of a seed is {@code (seed + i) % 251}.
 */
interface End {
  /** The pattern's period, a prime: data that is displaced by a power of two is detected. */
  int PRIME = 251;

  long address();

  int rkey();

  void fill(long offset, long length, int seed);

  void zero(long offset, long length);

  /** The first offset at which the buffer differs from the pattern; -1 when there is none. */
  long differs(long offset, long length, int seed);

  /** The 8 bytes at an offset, as a number of this machine. */
  long number(long offset);

  void number(long offset, long value);

  void receive(long wr, long offset, long length);

  void send(Work work);

  /** Waits for this many completions; returns fewer when time runs out. */
  List<Result> poll(int count);

  /** The same with a limit of time. */
  List<Result> poll(int count, int seconds);

  QpState state();

  /** Destroys its queue pair. */
  void destroy();
}
