package org.hghca.virtio.driver;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.hghca.provider.DeviceThread;
import org.hghca.provider.Health;
import org.hghca.verbs.AsyncEventType;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.Interrupts;
import org.hghca.vfio.Locator;
import org.hghca.virtio.VirtioDevice;
import org.hghca.virtio.VirtioException;
import org.hghca.virtio.abi.CommonConfig;

/**
 * The thread that awaits the interrupts of a device: of its configuration, which tells of the port
 * and of failures, and of completion queues. Without interrupts it looks at both by itself.
 */
final class EventThread {
  /** Of changes of the configuration; completion queues have the others, if there are any. */
  static final int CONFIGURATION_VECTOR = 0;

  private static final int MOST_VECTORS = 64;
  private static final long PERIOD_NANOS = 500_000_000;

  /** Between two looks without interrupts: at armed completion queues, and at the port. */
  private static final long POLL_NANOS = 1_000_000;

  private static final long PORT_NANOS = 20_000_000;

  /** A completion queue that wants to know of completions. */
  interface Armed {
    /** The interrupt vector that tells of its completions. */
    int interrupt();

    /** Its vector has fired, or there are no interrupts: it looks whether there are completions. */
    void look();
  }

  private final VirtioDevice virtio;
  private final Health health;
  private final Consumer<AsyncEventType> portChanged;
  private final Runnable tick;

  /** Known for good: a function that is gone does not say. */
  private final Interrupts interrupts;

  private final int vectors;
  private final Set<Armed> armed = ConcurrentHashMap.newKeySet();
  private final DeviceThread thread;
  private volatile boolean stopping;
  private PortState port;

  /**
   * A thread that is not started.
   *
   * @param cqs completion queues of the device: more vectors than for these have no use
   * @param portChanged is told that the port has come up or gone down
   * @param tick run twice a second or more often, under no lock; soon back
   */
  EventThread(
      VirtioDevice virtio,
      Health health,
      int cqs,
      Consumer<AsyncEventType> portChanged,
      Runnable tick) {
    this.virtio = virtio;
    this.health = health;
    this.portChanged = portChanged;
    this.tick = tick;
    this.interrupts = virtio.function().interrupts();
    this.port = PortState.of(virtio);
    int most = Math.min(1 + cqs, MOST_VECTORS);
    Locator locator = virtio.function().locator();
    this.vectors = polls(locator) ? 0 : Math.min(interrupts.vectors(), most);
    this.thread = new DeviceThread("events", locator.name(), this::run);
  }

  void start() {
    thread.start();
  }

  /** Ends the thread; it accesses nothing any more when this returns. */
  void stop() {
    stopping = true;
    interrupts.wake();
    thread.join();
  }

  /** Number of vectors for completion queues, at least 1; queues share the only one. */
  int completionVectors() {
    return Math.max(1, vectors - 1);
  }

  private static boolean polls(Locator locator) {
    String key = DriverParameter.EVENTS.key();
    String events = locator.parameter(key).orElse("eq");
    return switch (events) {
      case "eq" -> false;
      case "poll" -> true;
      default ->
          throw new VerbsException(
              Errno.EINVAL, "%s=%s: it must be eq or poll".formatted(key, events));
    };
  }

  /** Whether there are no interrupts: this thread polls armed completion queues. */
  boolean polls() {
    return vectors == 0;
  }

  /** The interrupt vector of a completion vector; {@code NO_VECTOR} without interrupts. */
  int interrupt(int completionVector) {
    return switch (vectors) {
      case 0 -> CommonConfig.NO_VECTOR;
      case 1 -> CONFIGURATION_VECTOR;
      default -> 1 + completionVector % completionVectors();
    };
  }

  /** A completion queue is armed: an interrupt of its vector tells its channel. */
  void watch(Armed queue) {
    armed.add(queue);
    if (polls()) {
      interrupts.wake();
    }
  }

  void forget(Armed queue) {
    armed.remove(queue);
  }

  private void run() {
    try {
      while (!stopping && !health.isDead()) {
        long fired = interrupts.await(period());
        tick.run();
        if (polls()) {
          configurationChanged();
          armed.forEach(Armed::look);
          continue;
        }
        if ((fired & 1L << CONFIGURATION_VECTOR) != 0) {
          configurationChanged();
        }
        if (fired != 0) {
          armed.forEach(queue -> look(queue, fired));
        }
      }
    } catch (VirtioException e) {
      health.fail(e.getMessage());
    } catch (Throwable e) { // on any failure, because programs wait for this thread
      health.fail("the thread of its events ended: " + e);
    }
  }

  private long period() {
    if (!polls()) {
      return PERIOD_NANOS;
    }
    return armed.isEmpty() ? PORT_NANOS : POLL_NANOS;
  }

  private static void look(Armed queue, long fired) {
    if ((fired & 1L << queue.interrupt()) != 0) {
      queue.look();
    }
  }

  private void configurationChanged() {
    virtio.check();
    PortState now = PortState.of(virtio);
    if (!now.isUp().equals(port.isUp())) {
      AsyncEventType type =
          now.isUp().orElse(true) ? AsyncEventType.PORT_ACTIVE : AsyncEventType.PORT_ERR;
      portChanged.accept(type);
    }
    port = now;
  }
}
