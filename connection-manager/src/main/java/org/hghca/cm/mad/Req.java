package org.hghca.cm.mad;

import java.util.Optional;
import org.hghca.cm.carrier.PrivateData;

/**
 * Request for communication. The end that the names call local is the sender.
 *
 * @param localId the communication ID of the sender
 * @param serviceId 64 bits
 * @param caGuid of the channel adapter of the sender
 * @param qpNumber 24 bits
 * @param responderResources 8 bits
 * @param initiatorDepth 8 bits
 * @param remoteResponseTimeout the code of the time in which the receiver answers, 5 bits
 * @param transport 0 RC, 1 UC, 2 RD, 3 extended
 * @param flowControl whether the sender gives credits
 * @param startingPsn from which the receiver of this message sends; 24 bits
 * @param localResponseTimeout the code of the time in which the sender answers, 5 bits
 * @param retryCount 3 bits
 * @param partitionKey 16 bits
 * @param pathMtu the code of the MTU, 4 bits
 * @param rnrRetry 3 bits
 * @param maxCmRetries how often the sender is asked again, 4 bits
 * @param sharedReceiveQueue whether the queue pair has one
 * @param primary the path
 * @param alternate a second path
 * @param privateData at most 92 bytes; all of them in a message that was read
 */
public record Req(
    int localId,
    long serviceId,
    long caGuid,
    int qpNumber,
    int responderResources,
    int initiatorDepth,
    int remoteResponseTimeout,
    int transport,
    boolean flowControl,
    int startingPsn,
    int localResponseTimeout,
    int retryCount,
    int partitionKey,
    int pathMtu,
    int rnrRetry,
    int maxCmRetries,
    boolean sharedReceiveQueue,
    PathFields primary,
    Optional<PathFields> alternate,
    PrivateData privateData)
    implements Message {
  static final int ATTRIBUTE = 0x10;

  private static final int PRIMARY = 52;
  private static final int ALTERNATE = 96;

  static Req read(Body body) {
    return new Req(
        body.u32(0),
        body.u64(8),
        body.u64(16),
        body.u24(32),
        body.u8(35),
        body.u8(39),
        body.bits(43, 7, 3),
        body.bits(43, 2, 1),
        body.bit(43, 0),
        body.u24(44),
        body.bits(47, 7, 3),
        body.bits(47, 2, 0),
        body.u16(48),
        body.bits(50, 7, 4),
        body.bits(50, 2, 0),
        body.bits(51, 7, 4),
        body.bit(51, 3),
        PathFields.read(body, PRIMARY),
        Optional.of(PathFields.read(body, ALTERNATE)).filter(PathFields::isPresent),
        body.rest(140));
  }

  @Override
  public int write(Body body) {
    body.u32(0, localId);
    body.u64(8, serviceId);
    body.u64(16, caGuid);
    body.u24(32, qpNumber);
    body.u8(35, responderResources);
    body.u8(39, initiatorDepth);
    body.bits(43, 7, 3, remoteResponseTimeout);
    body.bits(43, 2, 1, transport);
    body.bit(43, 0, flowControl);
    body.u24(44, startingPsn);
    body.bits(47, 7, 3, localResponseTimeout);
    body.bits(47, 2, 0, retryCount);
    body.u16(48, partitionKey);
    body.bits(50, 7, 4, pathMtu);
    body.bits(50, 2, 0, rnrRetry);
    body.bits(51, 7, 4, maxCmRetries);
    body.bit(51, 3, sharedReceiveQueue);
    primary.write(body, PRIMARY);
    alternate.ifPresent(path -> path.write(body, ALTERNATE));
    body.rest(140, privateData);
    return ATTRIBUTE;
  }
}
