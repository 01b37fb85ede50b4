package org.hghca.model;

import java.util.List;
import org.hghca.wire.Packet;
import org.hghca.wire.PortTap;

/** Several taps of one port. */
record PortTaps(List<? extends PortTap> taps) implements PortTap {

  /** One tap for all of them; the tap itself where there is only one. */
  static PortTap of(List<? extends PortTap> taps) {
    return switch (taps.size()) {
      case 0 -> PortTap.NONE;
      case 1 -> taps.getFirst();
      default -> new PortTaps(List.copyOf(taps));
    };
  }

  @Override
  public void sent(Packet packet) {
    for (int i = 0; i < taps.size(); i++) {
      taps.get(i).sent(packet);
    }
  }

  @Override
  public void received(Packet packet) {
    for (int i = 0; i < taps.size(); i++) {
      taps.get(i).received(packet);
    }
  }
}
