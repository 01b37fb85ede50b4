package org.hghca.model;

import org.hghca.model.link.Medium;
import org.hghca.model.link.Packet;
import org.hghca.model.link.Port;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/** A cable with two plugs, made by naming it in the locators of two HCAs of one simulation. */
public final class Cable {
  private final String name;
  private Port left;
  private Port right;

  private final Medium inside =
      new Medium() {
        @Override
        public boolean isUp() {
          return Cable.this.isUp();
        }

        @Override
        public void carry(Port from, Packet packet) {
          Cable.this.carry(from, packet);
        }
      };

  Cable(String name) {
    this.name = name;
  }

  public String name() {
    return name;
  }

  /** Whether both plugs are in. */
  public boolean isUp() {
    return left != null && right != null;
  }

  /** Every packet on the cable goes through here. */
  private void carry(Port from, Packet packet) {
    Port to = from == left ? right : left;
    if (to == null) {
      from.pool().giveBack(packet);
    } else {
      to.deliver(packet);
    }
  }

  /**
   * Plugs in a port.
   *
   * @throws VfioException {@code BUSY} when both plugs are in use
   */
  void plug(Port port) {
    if (left == null) {
      left = port;
    } else if (right == null) {
      right = port;
    } else {
      throw new VfioException(
          Reason.BUSY,
          "both ends of cable '%s' are plugged in: give this pair of HCAs a cable of its own"
              .formatted(name));
    }
    port.plug(inside);
  }

  void unplug(Port port) {
    if (left == port) {
      left = null;
    } else if (right == port) {
      right = null;
    }
    port.plug(null);
  }

  boolean isLoose() {
    return left == null && right == null;
  }
}
