package org.hghca.model;

import org.hghca.wire.link.Link;

/** What the port of an HCA is plugged into. */
sealed interface Plug {

  /**
   * A cable.
   *
   * @param disturbance the cable's disturbance if this plug is its first
   */
  record IntoCable(String cable, Disturbance disturbance) implements Plug {}

  /**
   * A hub.
   *
   * @param disturbance that of the way from the hub to the HCA
   */
  record IntoHub(String hub, Disturbance disturbance) implements Plug {}

  /**
   * A network outside of this process.
   *
   * @param link to it, which the HCA closes
   * @param disturbance that of the way from the link to the HCA
   */
  record IntoNetwork(Link link, Disturbance disturbance) implements Plug {}
}
