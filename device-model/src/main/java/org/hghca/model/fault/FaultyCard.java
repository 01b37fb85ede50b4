package org.hghca.model.fault;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.hghca.model.card.Card;
import org.hghca.model.card.CardCounters;
import org.hghca.model.card.PciIdentity;
import org.hghca.model.card.StepBudget;
import org.hghca.vfio.DeviceBus;
import org.hghca.wire.EthernetPort;

/**
 * A card with a {@link Fault}: a card as it should be, behind what changes its registers, its
 * accesses to memory and its interrupts. Its bus offers no windows, so that each access is seen.
 */
public final class FaultyCard implements Card {
  private final Card card;
  private final EthernetPort port;
  private final CardType type;
  private final Injection injection;
  private final Watch watch;

  /**
   * @param card without the fault
   * @param port its port
   * @param type which kind of card it is, one that can play the fault
   */
  public FaultyCard(Card card, EthernetPort port, CardType type, Fault fault) {
    this.card = card;
    this.port = port;
    this.type = type;
    this.injection = fault.injection();
    this.watch = type == CardType.VIRTIO ? new QueueWatch() : new CommandWatch(type);
    injection.begin(new Site(type, card, NOWHERE, port, watch));
  }

  /** The host before the card is attached. */
  private static final DeviceBus NOWHERE =
      new DeviceBus() {
        @Override
        public boolean read(long iova, MemorySegment to, long offset, long length) {
          return false;
        }

        @Override
        public boolean write(long iova, MemorySegment from, long offset, long length) {
          return false;
        }

        @Override
        public void raise(int vector) {}
      };

  /** The host as the card sees it. */
  private final class Bus implements DeviceBus {
    private final DeviceBus host;

    Bus(DeviceBus host) {
      this.host = host;
    }

    @Override
    public boolean read(long iova, MemorySegment to, long offset, long length) {
      boolean done = injection.fetch(watch.place(iova, false), iova, to, offset, length);
      if (done) {
        watch.fetched(iova, to, offset, length);
      }
      return done;
    }

    @Override
    public boolean write(long iova, MemorySegment from, long offset, long length) {
      byte[] bytes = from.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
      return injection.store(watch.place(iova, true), iova, bytes);
    }

    @Override
    public void raise(int vector) {
      if (vector < identity().vectors()) {
        injection.raise(vector);
      }
    }

    @Override
    public boolean mayWait() {
      return host.mayWait();
    }
  }

  @Override
  public PciIdentity identity() {
    return injection.identity(card.identity());
  }

  @Override
  public void attach(DeviceBus bus) {
    injection.begin(new Site(type, card, bus, port, watch));
    card.attach(new Bus(bus));
  }

  @Override
  public void busMaster(boolean on) {
    card.busMaster(on && injection.seesBusMaster());
  }

  @Override
  public void unplug() {
    card.unplug();
  }

  @Override
  public long read(int bar, long offset, int width) {
    long honest = card.read(bar, offset, width);
    watch.hasRead(bar, offset, honest);
    return injection.read(bar, offset, width, honest);
  }

  @Override
  public boolean isReset(int bar, long offset, int width, long value) {
    return card.isReset(bar, offset, width, value);
  }

  @Override
  public boolean write(int bar, long offset, int width, long value) {
    watch.writing(bar, offset, width, value);
    return injection.write(bar, offset, width, value);
  }

  @Override
  public boolean hasWrites() {
    return card.hasWrites() || injection.hasWork();
  }

  @Override
  public boolean step(long now, StepBudget budget) {
    boolean worked = injection.step(now);
    return card.step(now, budget) || worked;
  }

  @Override
  public long nextDeadline() {
    return Math.min(card.nextDeadline(), injection.nextDeadline());
  }

  @Override
  public void watchPort() {
    card.watchPort();
  }

  @Override
  public void failed() {
    card.failed();
  }

  @Override
  public void reset() {
    watch.reset();
    injection.reset();
    card.reset();
  }

  @Override
  public CardCounters counters() {
    return card.counters();
  }

  @Override
  public int icmPages() {
    return card.icmPages();
  }

  @Override
  public List<String> hazards() {
    return card.hazards();
  }
}
