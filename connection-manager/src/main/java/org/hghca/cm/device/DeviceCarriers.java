package org.hghca.cm.device;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.hghca.cm.carrier.Carrier;
import org.hghca.cm.ib.IbCarrier;
import org.hghca.cm.tcp.TcpCarrier;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * The carriers of a device, of which there is one of each kind in the process, over the context of
 * the device's first user: they are opened with their first user and closed with the last of the
 * device.
 *
 * <p>Opening and closing hold the monitor of the device, so that a user who comes while the last
 * one leaves waits until the device is closed, and opens it again. The users are counted under the
 * monitor of the table, which nobody holds for long. Thread-safe.
 */
public final class DeviceCarriers {
  private static final Map<String, DeviceCarriers> TABLE = new HashMap<>();

  private final String locator;

  /** Under the monitor of the table; an entry without users is removed when it is closed. */
  private int users;

  // Under the monitor of this object.

  private Optional<Carrier> ib = Optional.empty();
  private Optional<Carrier> tcp = Optional.empty();
  private Optional<Context> opened = Optional.empty();
  private boolean owned;

  private DeviceCarriers(String locator) {
    this.locator = locator;
  }

  /**
   * The carriers of a device; {@link #release} is due. Waits while the device is opened or closed:
   * not for handlers of a carrier's events, which have {@link #retain}.
   *
   * @param locator of the device
   * @param opener opens the device for its first user
   * @param owned whether the context is closed with the last user
   */
  public static DeviceCarriers use(String locator, Supplier<Context> opener, boolean owned) {
    DeviceCarriers shared;
    synchronized (TABLE) {
      shared = TABLE.computeIfAbsent(locator, DeviceCarriers::new);
      shared.users++;
    }
    try {
      shared.open(opener, owned);
      return shared;
    } catch (RuntimeException e) {
      shared.release();
      throw e;
    }
  }

  private synchronized void open(Supplier<Context> opener, boolean own) {
    if (opened.isEmpty()) {
      opened = Optional.of(opener.get());
      owned = own;
    }
  }

  /**
   * Adds a user; {@link #release} is due. Waits for nothing.
   *
   * @throws VerbsException ENODEV when the last user has left
   */
  public void retain() {
    synchronized (TABLE) {
      if (users == 0) {
        throw new VerbsException(Errno.ENODEV, locator + " is being closed");
      }
      users++;
    }
  }

  /** Removes a user. The last one closes the carriers, and the device if it is owned. */
  public void release() {
    synchronized (TABLE) {
      users--;
      if (users > 0) {
        return;
      }
    }
    synchronized (this) {
      if (isUsed()) {
        return; // by one who came meanwhile
      }
      try {
        closeAll();
      } finally {
        removeUnlessUsed();
      }
    }
  }

  private boolean isUsed() {
    synchronized (TABLE) {
      return users > 0;
    }
  }

  private void removeUnlessUsed() {
    synchronized (TABLE) {
      if (users == 0) {
        TABLE.remove(locator, this);
      }
    }
  }

  private void closeAll() {
    Releases releases = new Releases();
    ib.ifPresent(carrier -> releases.add(carrier::close));
    tcp.ifPresent(carrier -> releases.add(carrier::close));
    if (owned) {
      opened.ifPresent(context -> releases.add(context::close));
    }
    ib = Optional.empty();
    tcp = Optional.empty();
    opened = Optional.empty();
    releases.run();
  }

  /** How many devices have carriers or users. */
  public static int count() {
    synchronized (TABLE) {
      return TABLE.size();
    }
  }

  /** That of the first user. */
  public synchronized Context context() {
    return opened.orElseThrow();
  }

  /**
   * The InfiniBand connection manager.
   *
   * @throws VerbsException EOPNOTSUPP when the device cannot have it; EBUSY when another program
   *     has its queue pair of the general services
   */
  public synchronized Carrier ib() {
    Carrier carrier = ib.orElseGet(() -> IbCarrier.of(context()));
    ib = Optional.of(carrier);
    return carrier;
  }

  /** The carrier by TCP. */
  public synchronized Carrier tcp() {
    Carrier carrier = tcp.orElseGet(() -> TcpCarrier.of(context()));
    tcp = Optional.of(carrier);
    return carrier;
  }
}
