package org.hghca.tools.demo;

import java.time.Duration;
import org.hghca.programs.NotOpenedException;
import org.hghca.programs.Opened;
import org.hghca.programs.peer.ReadyDevice;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.Gid;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.GiveWay;
import org.hghca.vfio.TimeScale;

/**
 * Server or client: a device with a protection domain, a completion queue, and the objects that an
 * example makes on it.
 */
final class Side implements AutoCloseable {
  static final String SERVER = "server";
  static final String CLIENT = "client";

  static final int PORT = 1;
  static final int GID_INDEX = 0;

  private static final int COMPLETIONS = 16;

  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int POLLS_BETWEEN_YIELDS = GiveWay.looks(200);

  private final String role;
  private final String device;
  private final Context context;
  private final TimeScale time;
  private final ProtectionDomain pd;
  private final CompletionQueue cq;
  private final Completions completions = new Completions(COMPLETIONS);

  /** The objects of the example. */
  private final Opened opened = new Opened();

  /** The device and what every example uses. */
  private final Opened base = new Opened();

  private Side(String role, String device) {
    this.role = role;
    this.device = device;
    context = base.add(context(device));
    try {
      time = ReadyDevice.timeOf(context);
      pd = base.add(context.allocateProtectionDomain());
      cq = base.add(context.createCompletionQueue(COMPLETIONS));
    } catch (RuntimeException e) {
      base.close();
      throw e;
    }
  }

  /**
   * Opens a device.
   *
   * @throws NotOpenedException when it cannot be opened
   */
  static Side open(String role, String device) {
    return new Side(role, device);
  }

  private static Context context(String device) {
    try {
      return RdmaDevices.open(device);
    } catch (VerbsException e) {
      throw new NotOpenedException(e);
    }
  }

  /** Server or client. */
  String role() {
    return role;
  }

  /** The name or locator by which it was opened. */
  String device() {
    return device;
  }

  Context context() {
    return context;
  }

  /** The clock for waits for the device. */
  TimeScale time() {
    return time;
  }

  ProtectionDomain pd() {
    return pd;
  }

  CompletionQueue cq() {
    return cq;
  }

  /** Whether the card or its driver has a feature. */
  boolean has(DeviceFeature feature) {
    return context.queryDevice().has(feature);
  }

  /** Whether the card has a quirk. */
  boolean has(DeviceQuirk quirk) {
    return context.queryDevice().has(quirk);
  }

  Gid gid() {
    return context.queryGid(PORT, GID_INDEX);
  }

  /** The endpoint of a queue pair of ours, for the peer. */
  QpEndpoint endpoint(QueuePair qp, int psn) {
    return new QpEndpoint(
        context.queryPort(PORT).lid(), qp.number(), psn, gid(), qp.offerWrapMemory());
  }

  /**
   * Keeps an object of the device until {@link #release}.
   *
   * @return the object
   */
  <T extends AutoCloseable> T own(T object) {
    return opened.add(object);
  }

  /** Closes the objects that were made, the last one first. */
  void release() {
    opened.close();
  }

  /** What {@link #await} found. */
  Completions completions() {
    return completions;
  }

  /**
   * Polls until there is a completion.
   *
   * @return how many there are in {@link #completions}, all of them successful
   * @throws CheckFailedException when there is none for 5 seconds of the device's time, or one
   *     reports an error
   */
  int await(String check) {
    int count = cq.poll(completions);
    if (count == 0) {
      count = awaitFirst(check);
    }
    for (int i = 0; i < count; i++) {
      if (!completions.isSuccess(i)) {
        throw new CheckFailedException(
            check, "the %s's completion %s".formatted(role, completions.describe(i)));
      }
    }
    return count;
  }

  private int awaitFirst(String check) {
    long start = time.nanoTime();
    do {
      for (int i = 0; i < POLLS_BETWEEN_YIELDS; i++) {
        int count = cq.poll(completions);
        if (count != 0) {
          return count;
        }
        Thread.onSpinWait();
      }
      // If cores are scarce, the software HCA may need this one.
      Thread.yield();
    } while (time.nanoTime() - start < TIMEOUT.toNanos());
    throw new CheckFailedException(
        check,
        "the %s had no completion within %d seconds"
            .formatted(role, time.stretch(TIMEOUT).toSeconds()));
  }

  @Override
  public void close() {
    release();
    base.close();
  }
}
