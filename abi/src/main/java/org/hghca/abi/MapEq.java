package org.hghca.abi;

/**
 * in_modifier of MAP_EQ (interface document, table 3-2-24): which EQ receives events, or no longer
 * receives them. The events are the in_param, a mask of {@link EventType}.
 *
 * <pre>
 *      31    30                                   0
 *     +-----+--------------------------------------+
 *     |unmap|                 eqn                  |
 *     +-----+--------------------------------------+
 * </pre>
 */
public final class MapEq {
  private static final int UNMAP = 1 << 31;

  private MapEq() {}

  /**
   * Composes the in_modifier.
   *
   * @param unmap whether the events are taken from the EQ rather than given to it
   * @param eqn 31 bits
   * @throws IllegalArgumentException if the EQN does not fit
   */
  public static int inModifier(boolean unmap, int eqn) {
    if (eqn < 0) {
      throw new IllegalArgumentException("eqn takes 31 bits, not 0x" + Integer.toHexString(eqn));
    }
    return unmap ? UNMAP | eqn : eqn;
  }

  /** Whether the events are taken from the EQ. */
  public static boolean isUnmap(int inModifier) {
    return (inModifier & UNMAP) != 0;
  }

  /** The number of the EQ. */
  public static int eqn(int inModifier) {
    return inModifier & ~UNMAP;
  }
}
