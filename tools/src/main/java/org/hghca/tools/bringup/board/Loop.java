package org.hghca.tools.bringup.board;

/** How data that the card sends returns to it. */
public enum Loop {
  /** Unknown: one SEND with a time limit detects it. */
  AUTO,
  /** It does not: steps with data are skipped. */
  NONE,
  /** A plug, a switch, or the card itself returns it. */
  PLUG,
  /** Another device is at the other end. */
  PEER
}
