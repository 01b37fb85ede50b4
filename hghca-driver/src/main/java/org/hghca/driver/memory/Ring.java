package org.hghca.driver.memory;

import java.lang.foreign.MemorySegment;
import org.hghca.provider.queue.RingSlabs;

/** Memory of a ring, as registered with the card. Closing frees it. */
public sealed interface Ring {
  MemorySegment segment();

  /** The key of its region. */
  int key();

  /** Its offset in its region, in bytes. */
  int offset();

  void close();

  /** A ring with its own key: the card addresses a ring from the start of its region. */
  public record Own(Registrar.Registration registration) implements Ring {
    @Override
    public MemorySegment segment() {
      return registration.mapping().segment();
    }

    @Override
    public int key() {
      return registration.key();
    }

    @Override
    public int offset() {
      return 0;
    }

    @Override
    public void close() {
      registration.close();
    }
  }

  /** One of several rings with one key, for a card that supports offsets. */
  public record Part(RingSlabs<Registrar.Registration>.Piece piece) implements Ring {
    @Override
    public MemorySegment segment() {
      return piece.segment();
    }

    @Override
    public int key() {
      return piece.slab().key();
    }

    @Override
    public int offset() {
      return (int) piece.offset();
    }

    @Override
    public void close() {
      piece.close();
    }
  }
}
