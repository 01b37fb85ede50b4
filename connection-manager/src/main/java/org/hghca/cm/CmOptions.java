package org.hghca.cm;

import java.util.Optional;

/** The options of an identifier, guarded by its monitor. */
final class CmOptions {
  /** The life of a packet that Linux assumes, 4.096 us * 2^16 = 0.27 s. */
  private static final int PACKET_LIFE = 16;

  int typeOfService;
  boolean reuseAddress;
  Optional<Integer> ackTimeout = Optional.empty();
  Optional<CarrierKind> carrier = Optional.empty();

  int packetLife() {
    return ackTimeout.map(code -> Math.max(code - 1, 0)).orElse(PACKET_LIFE);
  }

  CarrierKind carrier(SharedDevice device) {
    return carrier.or(CarrierKind::said).orElseGet(device::defaultKind);
  }
}
