package org.hghca.programs.perf.run;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.Verb;
import org.hghca.verbs.QpType;

/**
 * What messages of the largest size carry: a measurement whose messages arrive empty, shifted or
 * not at all must not pass. No byte of it is 0, which memory holds at first; pages of a message
 * differ.
 */
public final class Contents {
  private static final int PERIOD = 251;

  private final MemorySegment memory;
  private final Buffers buffers;
  private final Parameters parameters;
  private final boolean client;
  private final long size;

  /** Of one side. */
  public Contents(Resources resources, boolean client) {
    this.client = client;
    memory = resources.memory().segment();
    buffers = resources.buffers();
    parameters = resources.parameters();
    size = parameters.largest();
  }

  private static byte at(long index) {
    return (byte) (1 + index % PERIOD);
  }

  /** Writes them where requests of either side take them from. */
  public void fill() {
    Verb verb = parameters.test().verb();
    if (verb == Verb.ATOMIC || !(verb == Verb.READ ? answers() : asks())) {
      return;
    }
    for (int pair = 0; pair < buffers.pairs(); pair++) {
      long start = verb == Verb.READ ? buffers.receiveOffset(pair) : buffers.sendOffset(pair);
      for (int place = 0; place < buffers.places(size); place++) {
        MemorySegment message = memory.asSlice(start + place * buffers.stride(size), size);
        for (long i = 0; i < size; i++) {
          message.set(JAVA_BYTE, i, at(i));
        }
      }
    }
  }

  /**
   * Checks the first message of each queue pair, after the last one.
   *
   * @throws PerfException when it is not what the peer has sent
   */
  public void check() {
    Verb verb = parameters.test().verb();
    boolean sink = verb == Verb.READ ? asks() : answers();
    if (verb == Verb.ATOMIC || !sink || parameters.type() == QpType.UC) {
      return;
    }
    // The last byte of a WRITE that is answered is its number.
    long length = verb == Verb.WRITE && !parameters.test().isBandwidth() ? size - 1 : size;
    for (int pair = 0; pair < buffers.pairs(); pair++) {
      long start =
          verb == Verb.READ
              ? buffers.sendOffset(pair)
              : buffers.receiveOffset(pair) + buffers.header();
      check(memory.asSlice(start, length));
    }
  }

  private void check(MemorySegment message) {
    if (mayBeMissing() && isUntouched(message)) {
      return;
    }
    for (long i = 0; i < message.byteSize(); i++) {
      byte found = message.get(JAVA_BYTE, i);
      if (found != at(i)) {
        throw new PerfException(
            "what arrived is not what was sent: byte %d of a message of %d is %#04x, not %#04x"
                .formatted(i, size, found, at(i)));
      }
    }
  }

  private static boolean isUntouched(MemorySegment message) {
    for (long i = 0; i < message.byteSize(); i++) {
      if (message.get(JAVA_BYTE, i) != 0) {
        return false;
      }
    }
    return true;
  }

  /** Whether this side posts what is measured. */
  private boolean asks() {
    return client || isMutual();
  }

  /** Whether the peer does. */
  private boolean answers() {
    return !client || isMutual();
  }

  private boolean isMutual() {
    PerfTest test = parameters.test();
    return parameters.isBidirectional() || !test.isBandwidth() && !test.verb().isRequest();
  }

  /** Datagrams may be lost, and in a given time none may have come. */
  private boolean mayBeMissing() {
    boolean timed = parameters.amount().span().isPresent();
    return parameters.type() == QpType.UD || parameters.test().verb() == Verb.SEND && timed;
  }
}
