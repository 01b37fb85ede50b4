package org.hghca.cm;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.hghca.cm.carrier.Carrier;
import org.hghca.cm.tcp.TcpCarrier;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.VerbsException;

/**
 * A device with its carriers, of which there is one of each kind in the process: carriers are
 * opened with their first user and closed with the last user of the device.
 */
final class SharedDevice {
  private static final Map<RdmaDevice, SharedDevice> OPEN = new HashMap<>();

  private final Context context;
  private final boolean owned;
  private final Map<CarrierKind, Carrier> carriers = new EnumMap<>(CarrierKind.class);
  private int users;

  private SharedDevice(Context context, boolean owned) {
    this.context = context;
    this.owned = owned;
  }

  /** The device of a program's context, which stays the program's; {@link #release} is due. */
  static SharedDevice of(Context context) {
    return use(context.device(), () -> new SharedDevice(context, false));
  }

  /** A device that is opened for its first user; {@link #release} is due. */
  static SharedDevice of(RdmaDevice device, Supplier<Context> opener) {
    return use(device, () -> new SharedDevice(opener.get(), true));
  }

  private static SharedDevice use(RdmaDevice device, Supplier<SharedDevice> opener) {
    synchronized (OPEN) {
      SharedDevice shared = OPEN.get(device);
      if (shared == null) {
        shared = opener.get();
        OPEN.put(device, shared);
      }
      shared.users++;
      return shared;
    }
  }

  /** One user fewer. */
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

  /** The carrier that is used unless another is said. */
  CarrierKind defaultKind() {
    return CarrierKind.TCP;
  }

  /**
   * The carrier of a kind.
   *
   * @throws VerbsException EOPNOTSUPP when the device cannot have it
   */
  synchronized Carrier carrier(CarrierKind kind) {
    return carriers.computeIfAbsent(kind, this::open);
  }

  private Carrier open(CarrierKind kind) {
    return switch (kind) {
      case TCP -> TcpCarrier.of(context);
      case IB ->
          throw new VerbsException(
              Errno.EOPNOTSUPP,
              context.device().name()
                  + " has no InfiniBand connection manager: use the carrier tcp");
    };
  }
}
