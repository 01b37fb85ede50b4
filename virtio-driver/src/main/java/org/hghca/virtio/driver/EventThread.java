package org.hghca.virtio.driver;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.hghca.provider.DeviceThread;
import org.hghca.verbs.AsyncEventType;
import org.hghca.virtio.VirtioException;
import org.hghca.virtio.abi.CommonConfig;

/**
 * The thread that awaits the interrupts of a device: of its configuration, which tells of the port
 * and of failures, and of completion queues. Without interrupts it has nothing to do.
 */
final class EventThread {
  /** Of changes of the configuration; completion queues have the others, if there are any. */
  static final int CONFIGURATION_VECTOR = 0;

  private static final int MOST_VECTORS = 64;
  private static final long PERIOD_NANOS = 1_000_000_000;
  private static final int PORT = 1;

  private final RoceDevice device;
  private final int vectors;
  private final Set<RoceCompletionQueue> armed = ConcurrentHashMap.newKeySet();
  private final DeviceThread thread;
  private volatile boolean stopping;
  private PortState port;

  /**
   * A thread that is not started.
   *
   * @param cqs completion queues of the device: more vectors than for these have no use
   */
  EventThread(RoceDevice device, PortState port, int cqs) {
    this.device = device;
    this.port = port;
    int most = Math.min(1 + cqs, MOST_VECTORS);
    this.vectors = Math.min(device.function().interrupts().vectors(), most);
    this.thread = new DeviceThread("events", device.function().locator().name(), this::run);
  }

  void start() {
    thread.start();
  }

  /** Ends the thread; it accesses nothing any more when this returns. */
  void stop() {
    stopping = true;
    device.function().interrupts().wake();
    thread.join();
  }

  /** Number of vectors for completion queues, at least 1; queues share the only one. */
  int completionVectors() {
    return Math.max(1, vectors - 1);
  }

  /** Whether completion queues can have interrupts. */
  boolean hasVectors() {
    return vectors > 0;
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
  void watch(RoceCompletionQueue queue) {
    armed.add(queue);
  }

  void forget(RoceCompletionQueue queue) {
    armed.remove(queue);
  }

  private void run() {
    try {
      while (!stopping && !device.health().isDead()) {
        long fired = device.function().interrupts().await(PERIOD_NANOS);
        if ((fired & 1L << CONFIGURATION_VECTOR) != 0) {
          configurationChanged();
        }
        if (fired != 0) {
          armed.forEach(queue -> tell(queue, fired));
        }
      }
    } catch (VirtioException e) {
      device.health().fail(e.getMessage());
    } catch (Throwable e) { // on any failure, because programs wait for this thread
      device.health().fail("the thread of its events ended: " + e);
    }
  }

  private static void tell(RoceCompletionQueue queue, long fired) {
    if ((fired & 1L << queue.interrupt()) != 0) {
      queue.interrupted();
    }
  }

  private void configurationChanged() {
    device.virtio().check();
    PortState now = PortState.of(device.virtio());
    if (!now.isUp().equals(port.isUp())) {
      AsyncEventType type =
          now.isUp().orElse(true) ? AsyncEventType.PORT_ACTIVE : AsyncEventType.PORT_ERR;
      device.contexts().forEach(context -> context.raisePort(type, PORT));
    }
    port = now;
  }
}
