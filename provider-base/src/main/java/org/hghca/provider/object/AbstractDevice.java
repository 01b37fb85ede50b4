package org.hghca.provider.object;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.hghca.provider.DeferredFree;
import org.hghca.provider.Health;
import org.hghca.provider.address.Neighbors;
import org.hghca.provider.address.SegmentNeighbors;
import org.hghca.provider.snapshot.CounterPublisher;
import org.hghca.provider.snapshot.Published;
import org.hghca.provider.srq.SrqRefill;
import org.hghca.vfio.LinkAddress;
import org.hghca.vfio.Locator;
import org.hghca.vfio.PciFunction;
import org.hghca.vfio.memory.BufferPool;

/** A device of any driver that is brought up: what its contexts share. Thread-safe. */
public abstract class AbstractDevice {
  private final PciFunction function;
  private final Health health;
  private final DeferredFree deferredFree;
  private final LinkAddress address;
  private final Neighbors neighbors;
  private final SegmentNeighbors segment;
  private final Runnable takeDown;
  private final BufferPool buffers;
  private final SrqRefill srqRefill;
  private final Set<AbstractContext> contexts = ConcurrentHashMap.newKeySet();
  private final CounterPublisher publisher;

  /** What its publisher sees of it. */
  private record Shown(PciFunction function, Set<AbstractContext> contexts)
      implements CounterPublisher.Device {
    @Override
    public String name() {
      return contexts.stream()
          .findFirst()
          .map(context -> context.device().name())
          .orElseGet(locator()::toString);
    }

    @Override
    public Locator locator() {
      return function.locator();
    }

    @Override
    public List<Published> things() {
      return contexts.stream()
          .filter(AbstractContext::isOpen)
          .sorted(Comparator.comparingLong(AbstractContext::openingNumber))
          .flatMap(AbstractContext::published)
          .toList();
    }

    @Override
    public Map<String, Long> ports() {
      return function.portCounters();
    }
  }

  /**
   * A device without contexts.
   *
   * @param deferredFree memory that the device did not confirm to have released; freed by the
   *     take-down
   * @param onRefillFailure declares the device dead, when the thread that deals shared receives
   *     cannot continue
   * @param takeDown the reverse of the bring-up
   */
  protected AbstractDevice(
      PciFunction function,
      Health health,
      DeferredFree deferredFree,
      LinkAddress address,
      Neighbors neighbors,
      Consumer<Throwable> onRefillFailure,
      Runnable takeDown) {
    this.function = function;
    this.health = health;
    this.deferredFree = deferredFree;
    this.address = address;
    this.neighbors = neighbors;
    this.segment = new SegmentNeighbors(function.locator());
    this.takeDown = takeDown;
    this.publisher = new CounterPublisher(new Shown(function, contexts));
    this.buffers = new BufferPool(function.memory());
    this.srqRefill = new SrqRefill(function.locator().name(), health, onRefillFailure);
  }

  public final PciFunction function() {
    return function;
  }

  /** Whether it works. */
  public final Health health() {
    return health;
  }

  public final DeferredFree deferredFree() {
    return deferredFree;
  }

  /** The addresses of its port. */
  public final LinkAddress address() {
    return address;
  }

  public final Neighbors neighbors() {
    return neighbors;
  }

  /** Memory for the regions that the driver allocates. */
  public final BufferPool buffers() {
    return buffers;
  }

  /** The thread that deals requests while no program polls. */
  public final SrqRefill srqRefill() {
    return srqRefill;
  }

  /** The contexts that are open. */
  public final Set<AbstractContext> contexts() {
    return contexts;
  }

  /**
   * The last step of the bring-up: devices at the same cable or hub find its port, and readers its
   * counters.
   */
  protected final void opened() {
    segment.join(address);
    publisher.open();
  }

  /** The first step of the shutdown. */
  protected final void closing() {
    publisher.closing();
    segment.leave(address);
  }

  /** To be called by the thread of its events twice a second or more often, under no lock. */
  public final void tick() {
    publisher.tick();
  }

  /** Shuts the device down and releases it. It has no contexts any more. */
  public final void close() {
    try {
      takeDown.run();
    } finally {
      publisher.close();
      buffers.close();
    }
  }
}
