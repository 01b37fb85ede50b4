package org.hghca.tools.bringup;

/** How what the card sends comes back. */
public enum Loop {
  /** It is not known: one SEND under a time limit finds out. */
  AUTO,
  /** It does not: steps with data are left out. */
  NONE,
  /** A plug, a switch, or the card itself gives it back. */
  PLUG,
  /** Another device is at the other end. */
  PEER
}
