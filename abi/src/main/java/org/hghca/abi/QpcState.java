package org.hghca.abi;

/**
 * Values of {@link QueuePairContext#STATE} (interface document, table 3-2-42).
 *
 * <p>The RTL has the codes of SQE and SQD swapped, and refuses to send in both.
 */
public final class QpcState {
  /** Reset. */
  public static final int RST = 0;

  /** Initialized. */
  public static final int INIT = 1;

  /** Ready to receive. */
  public static final int RTR = 2;

  /** Ready to send. */
  public static final int RTS = 3;

  /** Send queue in error. */
  public static final int SQE = 4;

  /** Send queue drained. */
  public static final int SQD = 5;

  /** Error. */
  public static final int ERR = 6;

  private QpcState() {}

  /** The document's name of a state, or its number if it has none. */
  public static String name(int state) {
    return switch (state) {
      case RST -> "RST";
      case INIT -> "INIT";
      case RTR -> "RTR";
      case RTS -> "RTS";
      case SQE -> "SQE";
      case SQD -> "SQD";
      case ERR -> "ERR";
      default -> Integer.toString(state);
    };
  }
}
