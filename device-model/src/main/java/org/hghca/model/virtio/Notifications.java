package org.hghca.model.virtio;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The queues with chains that may wait: the driver has notified of them, or a step has left some.
 * Thread-safe.
 */
final class Notifications {
  /** {@link #next}: there is none. */
  static final int NONE = -1;

  private static final VarHandle WORD = MethodHandles.arrayElementVarHandle(long[].class);

  /** A bit for each queue. */
  private final long[] words;

  Notifications(int queues) {
    words = new long[(queues + Long.SIZE - 1) / Long.SIZE];
  }

  void add(int queue) {
    WORD.getAndBitwiseOr(words, queue / Long.SIZE, 1L << queue);
  }

  /** Whether a queue is among them; it is not any more. */
  boolean take(int queue) {
    int word = queue / Long.SIZE;
    long bit = 1L << queue;
    return ((long) WORD.getVolatile(words, word) & bit) != 0
        && ((long) WORD.getAndBitwiseAnd(words, word, ~bit) & bit) != 0;
  }

  /** The first one from a number on, or {@link #NONE}. */
  int next(int from) {
    for (int word = from / Long.SIZE; word < words.length; word++) {
      long bits = (long) WORD.getVolatile(words, word);
      if (word == from / Long.SIZE) {
        bits &= -1L << from;
      }
      if (bits != 0) {
        return word * Long.SIZE + Long.numberOfTrailingZeros(bits);
      }
    }
    return NONE;
  }

  void clear() {
    for (int word = 0; word < words.length; word++) {
      WORD.setVolatile(words, word, 0L);
    }
  }
}
