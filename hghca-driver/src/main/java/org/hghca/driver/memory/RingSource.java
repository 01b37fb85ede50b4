package org.hghca.driver.memory;

import java.util.function.LongFunction;
import org.hghca.provider.queue.RingSlabs;

/** Where the memory of rings comes from. Thread-safe. */
public interface RingSource {
  /**
   * Zeroed memory of a ring, registered with the card.
   *
   * @param bytes at least 1
   */
  Ring ring(long bytes);

  /** Frees what is kept for later rings. */
  void close();

  /** The same for one of several users, whose close frees nothing. */
  default RingSource lent() {
    return new Lent(this);
  }

  /** What belongs to another. */
  record Lent(RingSource owned) implements RingSource {
    @Override
    public Ring ring(long bytes) {
      return owned.ring(bytes);
    }

    @Override
    public void close() {}
  }

  /** Rings with one key for many of them, for a card that supports offsets. */
  record Shared(RingSlabs<Registrar.Registration> slabs) implements RingSource {
    @Override
    public Ring ring(long bytes) {
      return new Ring.Part(slabs.allocate(bytes));
    }

    @Override
    public void close() {
      slabs.close();
    }
  }

  /** Rings with their own keys. */
  record Single(LongFunction<Registrar.Registration> memory) implements RingSource {
    @Override
    public Ring ring(long bytes) {
      return new Ring.Own(memory.apply(bytes));
    }

    @Override
    public void close() {}
  }
}
