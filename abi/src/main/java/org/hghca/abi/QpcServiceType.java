package org.hghca.abi;

/** Values of {@link QueuePairContext#SERVICE_TYPE} (interface document, table 3-2-42). */
public final class QpcServiceType {
  /** Reliable connection. */
  public static final int RC = 0;

  /** Unreliable connection. */
  public static final int UC = 1;

  /** Reliable datagram; no card implements it. */
  public static final int RD = 2;

  /** Unreliable datagram. */
  public static final int UD = 3;

  private QpcServiceType() {}

  /** The document's name of a service type, or its number if it has none. */
  public static String name(int serviceType) {
    return switch (serviceType) {
      case RC -> "RC";
      case UC -> "UC";
      case RD -> "RD";
      case UD -> "UD";
      default -> Integer.toString(serviceType);
    };
  }
}
