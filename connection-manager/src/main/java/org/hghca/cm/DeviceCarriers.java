package org.hghca.cm;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.hghca.cm.carrier.Carrier;
import org.hghca.cm.ib.IbCarrier;
import org.hghca.cm.tcp.TcpCarrier;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;

/**
 * The carriers of a device, of which there is one of each kind in the process, over the context of
 * the device's first user: they are opened with their first user and closed with the last of the
 * device.
 */
final class DeviceCarriers {
  private static final Map<String, DeviceCarriers> OPEN = new HashMap<>();

  private final Context context;
  private final boolean owned;
  private final Map<CarrierKind, Carrier> carriers = new EnumMap<>(CarrierKind.class);
  private int users;

  private DeviceCarriers(Context context, boolean owned) {
    this.context = context;
    this.owned = owned;
  }

  /**
   * The carriers of a device; {@link #release} is due.
   *
   * @param locator of the device
   * @param opener opens the device for its first user
   * @param owned whether the context is closed with the last user
   */
  static DeviceCarriers use(String locator, Supplier<Context> opener, boolean owned) {
    synchronized (OPEN) {
      DeviceCarriers shared = OPEN.get(locator);
      if (shared == null) {
        shared = new DeviceCarriers(opener.get(), owned);
        OPEN.put(locator, shared);
      }
      shared.users++;
      return shared;
    }
  }

  /** Adds a user; {@link #release} is due. */
  void retain() {
    synchronized (OPEN) {
      users++;
    }
  }

  /** Removes a user. */
  void release() {
    synchronized (OPEN) {
      users--;
      if (users > 0) {
        return;
      }
      OPEN.values().remove(this);
    }
    synchronized (this) {
      carriers.values().forEach(Carrier::close);
      carriers.clear();
    }
    if (owned) {
      context.close();
    }
  }

  /** How many devices have carriers or users. */
  static int count() {
    synchronized (OPEN) {
      return OPEN.size();
    }
  }

  Context context() {
    return context;
  }

  /** What the device announces: the InfiniBand CM if it has the queue pair for it. */
  CarrierKind defaultKind() {
    return context.queryDevice().has(DeviceFeature.GSI_QUEUE_PAIR)
        ? CarrierKind.IB
        : CarrierKind.TCP;
  }

  /**
   * The carrier of a kind.
   *
   * @throws org.hghca.verbs.VerbsException EOPNOTSUPP when the device cannot have it; EBUSY when
   *     another program has its queue pair of the general services
   */
  synchronized Carrier carrier(CarrierKind kind) {
    return carriers.computeIfAbsent(kind, this::open);
  }

  private Carrier open(CarrierKind kind) {
    return switch (kind) {
      case TCP -> TcpCarrier.of(context);
      case IB -> IbCarrier.of(context);
    };
  }
}
