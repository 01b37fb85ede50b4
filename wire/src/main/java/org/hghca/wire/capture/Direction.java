package org.hghca.wire.capture;

/** The way of a captured frame, seen from the interface. */
public enum Direction {
  /** It came to the interface. */
  IN,

  /** The interface sent it. */
  OUT,

  /** The capture does not tell. */
  UNKNOWN
}
