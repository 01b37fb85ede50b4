package org.hghca.abi;

import static org.hghca.abi.QueuePairContext.ACK_TIMEOUT;
import static org.hghca.abi.QueuePairContext.ALTERNATE_ACK_TIMEOUT;
import static org.hghca.abi.QueuePairContext.ALTERNATE_DMAC_HIGH;
import static org.hghca.abi.QueuePairContext.ALTERNATE_DMAC_LOW;
import static org.hghca.abi.QueuePairContext.ALTERNATE_FLOW_LABEL;
import static org.hghca.abi.QueuePairContext.ALTERNATE_GID_HIGH;
import static org.hghca.abi.QueuePairContext.ALTERNATE_GID_LOW;
import static org.hghca.abi.QueuePairContext.ALTERNATE_HOP_LIMIT;
import static org.hghca.abi.QueuePairContext.ALTERNATE_MGID_INDEX;
import static org.hghca.abi.QueuePairContext.ALTERNATE_SL;
import static org.hghca.abi.QueuePairContext.ALTERNATE_TRAFFIC_CLASS;
import static org.hghca.abi.QueuePairContext.DESTINATION_IP;
import static org.hghca.abi.QueuePairContext.DMAC_HIGH;
import static org.hghca.abi.QueuePairContext.DMAC_LOW;
import static org.hghca.abi.QueuePairContext.FLOW_LABEL;
import static org.hghca.abi.QueuePairContext.HOP_LIMIT;
import static org.hghca.abi.QueuePairContext.MGID_INDEX;
import static org.hghca.abi.QueuePairContext.MIGRATION;
import static org.hghca.abi.QueuePairContext.REMOTE_GID_HIGH;
import static org.hghca.abi.QueuePairContext.REMOTE_GID_LOW;
import static org.hghca.abi.QueuePairContext.SL;
import static org.hghca.abi.QueuePairContext.SOURCE_IP;
import static org.hghca.abi.QueuePairContext.TRAFFIC_CLASS;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * EXTENSION. Values of {@link QueuePairContext#MIGRATION}, with the numbers of libibverbs, and what
 * a migration changes in a context: the primary path and the alternate path change places.
 *
 * <p>The bit MigReq of a packet is 1 in {@link #MIGRATED}, else 0. In {@link #REARM} a packet with
 * 0 leads to {@link #ARMED}: both sides have an alternate path then. In ARMED the device migrates
 * when its retries are used up, and when a packet with 1 comes on the alternate path. Software sets
 * MIGRATED in ARMED by exchanging the paths, and REARM in MIGRATED.
 *
 * <p>A device keeps state and paths as they are when MODIFY_QP's mask has none of {@link
 * OptParamMask#AV}, {@link OptParamMask#ALT_PATH} and {@link OptParamMask#PATH_MIG_STATE} and the
 * context has an alternate path.
 */
public final class PathMigration {
  /** The connection has migrated, or has had no alternate path yet. */
  public static final int MIGRATED = 0;

  /** This side has an alternate path; the other one has not said so. */
  public static final int REARM = 1;

  /** Both sides have alternate paths. */
  public static final int ARMED = 2;

  /** The fields of the primary path, and those of the alternate path, in the same order. */
  private static final List<MailboxField> PRIMARY =
      List.of(
          ACK_TIMEOUT,
          MGID_INDEX,
          HOP_LIMIT,
          SL,
          TRAFFIC_CLASS,
          FLOW_LABEL,
          REMOTE_GID_HIGH,
          REMOTE_GID_LOW,
          DMAC_LOW,
          DMAC_HIGH);

  private static final List<MailboxField> ALTERNATE =
      List.of(
          ALTERNATE_ACK_TIMEOUT,
          ALTERNATE_MGID_INDEX,
          ALTERNATE_HOP_LIMIT,
          ALTERNATE_SL,
          ALTERNATE_TRAFFIC_CLASS,
          ALTERNATE_FLOW_LABEL,
          ALTERNATE_GID_HIGH,
          ALTERNATE_GID_LOW,
          ALTERNATE_DMAC_LOW,
          ALTERNATE_DMAC_HIGH);

  private PathMigration() {}

  /** Whether a context has an alternate path. */
  public static boolean hasAlternate(MemorySegment context) {
    return (ALTERNATE_GID_HIGH.getLong(context) | ALTERNATE_GID_LOW.getLong(context)) != 0;
  }

  /** As {@link #hasAlternate(MemorySegment)}. */
  public static boolean hasAlternate(QueuePairContext context) {
    return (context.getLong(ALTERNATE_GID_HIGH) | context.getLong(ALTERNATE_GID_LOW)) != 0;
  }

  /**
   * Exchanges the paths of a context, whose state becomes {@link #MIGRATED}.
   *
   * @param sourceIp the IPv4 address at {@link QueuePairContext#ALTERNATE_MGID_INDEX} of the {@link
   *     GidTable}, 0 for another kind of address
   */
  public static void migrate(MemorySegment context, int sourceIp) {
    for (int i = 0; i < PRIMARY.size(); i++) {
      long primary = PRIMARY.get(i).getLong(context);
      PRIMARY.get(i).setLong(context, ALTERNATE.get(i).getLong(context));
      ALTERNATE.get(i).setLong(context, primary);
    }
    long high = REMOTE_GID_HIGH.getLong(context);
    long low = REMOTE_GID_LOW.getLong(context);
    boolean ipv4 = high == 0 && low >>> 32 == 0xffff;
    DESTINATION_IP.set(context, ipv4 ? (int) low : 0);
    SOURCE_IP.set(context, sourceIp);
    MIGRATION.set(context, MIGRATED);
  }

  /** Copies state and paths from one context to another. */
  public static void copy(MemorySegment from, MemorySegment to) {
    MIGRATION.set(to, MIGRATION.get(from));
    SOURCE_IP.set(to, SOURCE_IP.get(from));
    DESTINATION_IP.set(to, DESTINATION_IP.get(from));
    for (int i = 0; i < PRIMARY.size(); i++) {
      PRIMARY.get(i).setLong(to, PRIMARY.get(i).getLong(from));
      ALTERNATE.get(i).setLong(to, ALTERNATE.get(i).getLong(from));
    }
  }
}
