package org.hghca.tools.raw;

import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.abi.Bar;
import org.hghca.abi.Doorbell;
import org.hghca.vfio.MmioHandler;
import org.hghca.vfio.MmioRegion;

/** In front of BAR2: remembers the last doorbell of each queue, and lets none be read. */
public final class Doorbells implements MmioHandler {
  private final MmioRegion registers;
  private final Map<Integer, Long> sends = new ConcurrentHashMap<>();
  private final Map<Integer, Integer> events = new ConcurrentHashMap<>();

  Doorbells(MmioRegion registers) {
    this.registers = registers;
  }

  /** BAR2 as seen through this. */
  MmioRegion region() {
    return MmioRegion.trapped(registers.size(), this);
  }

  @Override
  public long read(long offset, int width) {
    throw new IllegalStateException("BAR2 is never read: the card does not answer");
  }

  @Override
  public void write(long offset, int width, long value) {
    int register = (int) (offset & Bar.UAR_PAGE_SIZE - 1);
    if (register == Doorbell.SEND_QUEUE && width == Long.BYTES) {
      sends.put(Doorbell.qpn(value), value);
    } else if (register == Doorbell.EQ_ARM) {
      events.put(Doorbell.armedEqn((int) value), Doorbell.consumerIndex((int) value));
    }
    if (width == Long.BYTES) {
      registers.writeLong(offset, value);
    } else {
      registers.writeInt(offset, (int) value);
    }
  }

  @Override
  public boolean isPosted() {
    return registers.isPosted();
  }

  void forget() {
    sends.clear();
    events.clear();
  }

  /** The last send doorbell of a queue pair, see {@link Doorbell}; empty before one. */
  public OptionalLong send(int qpn) {
    Long value = sends.get(qpn);
    return value == null ? OptionalLong.empty() : OptionalLong.of(value);
  }

  /** The consumer index of the last doorbell of an event queue, 24 bits; empty before one. */
  public OptionalInt consumerIndex(int eqn) {
    Integer index = events.get(eqn);
    return index == null ? OptionalInt.empty() : OptionalInt.of(index);
  }
}
