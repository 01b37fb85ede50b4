package org.hghca.cm;

import java.util.Optional;
import org.hghca.cm.device.SharedDevice;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** The options of an identifier, guarded by the monitor of its {@link Lifecycle}. */
final class CmOptions {
  /** The life of a packet that Linux assumes, 4.096 us * 2^16 = 0.27 s. */
  private static final int PACKET_LIFE = 16;

  private int typeOfService;
  private boolean reuseAddress;
  private Optional<Integer> ackTimeout = Optional.empty();
  private Optional<CarrierKind> carrier = Optional.empty();

  void typeOfService(int trafficClass) {
    if (trafficClass >>> 8 != 0) {
      throw new VerbsException(Errno.EINVAL, "a traffic class has 8 bits, not " + trafficClass);
    }
    typeOfService = trafficClass;
  }

  int typeOfService() {
    return typeOfService;
  }

  void reuseAddress(boolean on) {
    reuseAddress = on;
  }

  boolean reuseAddress() {
    return reuseAddress;
  }

  void ackTimeout(int code) {
    if (code >>> 5 != 0) {
      throw new VerbsException(Errno.EINVAL, "an ACK timeout has 5 bits, not " + code);
    }
    ackTimeout = Optional.of(code);
  }

  int packetLife() {
    return ackTimeout.isPresent() ? Math.max(ackTimeout.get() - 1, 0) : PACKET_LIFE;
  }

  void carrier(CarrierKind kind) {
    carrier = Optional.of(kind);
  }

  CarrierKind carrier(SharedDevice device) {
    Optional<CarrierKind> chosen = carrier.isPresent() ? carrier : CarrierKind.configured();
    return chosen.isPresent() ? chosen.get() : CarrierKind.announced(device);
  }
}
