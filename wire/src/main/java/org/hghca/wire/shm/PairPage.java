package org.hghca.wire.shm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * What one member tells another one without a system call, in memory that only it writes: how far
 * it has written its ring and read the other's, and whether it sleeps.
 *
 * <pre>
 *  00h layout
 *  40h head: bytes that this member has written
 *  80h tail: bytes of the other's ring that it has read
 *  C0h odd while it sleeps; another number each time
 * 100h odd while it waits for room in its ring; another number each time
 * 140h how many of the other's {@link Lines} it has read
 * 200h lines that it has written
 * </pre>
 */
final class PairPage {
  static final int BYTES = 4096;
  static final long LINES = 0x200;

  private static final long LAYOUT_AT = 0;
  private static final long HEAD = 0x40;
  private static final long TAIL = 0x80;
  private static final long SLEEP = 0xc0;
  private static final long WAIT = 0x100;
  private static final long TAKEN = 0x140;
  private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

  private final MemorySegment memory;

  PairPage(MemorySegment memory) {
    this.memory = memory;
  }

  /** Of the one who writes it, before the other one sees it. */
  void begin() {
    memory.set(ValueLayout.JAVA_LONG, LAYOUT_AT, Greeting.LAYOUT);
  }

  boolean isOfThisLayout() {
    return memory.get(ValueLayout.JAVA_LONG, LAYOUT_AT) == Greeting.LAYOUT;
  }

  long head() {
    return (long) LONG.getAcquire(memory, HEAD);
  }

  void head(long bytes) {
    LONG.setRelease(memory, HEAD, bytes);
  }

  long tail() {
    return (long) LONG.getAcquire(memory, TAIL);
  }

  void tail(long bytes) {
    LONG.setRelease(memory, TAIL, bytes);
  }

  long linesTaken() {
    return (long) LONG.getAcquire(memory, TAKEN);
  }

  void linesTaken(long number) {
    LONG.setRelease(memory, TAKEN, number);
  }

  /** All of it, for the lines. */
  MemorySegment memory() {
    return memory;
  }

  /** Odd while its member sleeps. To be read behind a full fence. */
  long sleep() {
    return (long) LONG.getOpaque(memory, SLEEP);
  }

  /** What is looked for afterwards, behind a full fence, is not missed. */
  void sleep(long number) {
    LONG.setOpaque(memory, SLEEP, number);
  }

  /** Odd while its member waits for room. To be read behind a full fence. */
  long waiting() {
    return (long) LONG.getOpaque(memory, WAIT);
  }

  /** As {@link #sleep(long)}. */
  void waiting(long number) {
    LONG.setOpaque(memory, WAIT, number);
  }
}
