package org.hghca.model.fault;

import java.util.Locale;
import org.hghca.abi.HardwareProfile;

/** The kinds of software cards: the profiles of the HCA, and the virtio network card. */
public enum CardType {
  /** The HCA of the interface document. */
  S,
  /** The makers' first RTL. */
  R1,
  /** The makers' second RTL. */
  R2,
  /** The virtio network card. */
  VIRTIO;

  /** The kind of an HCA by its profile. */
  public static CardType of(HardwareProfile profile) {
    return valueOf(profile.name().toUpperCase(Locale.ROOT));
  }

  /** The name that users give. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
