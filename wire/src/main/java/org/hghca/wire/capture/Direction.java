package org.hghca.wire.capture;

/** The direction of a captured frame, seen from the interface. */
public enum Direction {
  /** The interface received it. */
  IN,

  /** The interface sent it. */
  OUT,

  /** The capture does not say. */
  UNKNOWN
}
