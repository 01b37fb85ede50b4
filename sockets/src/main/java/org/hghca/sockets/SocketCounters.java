package org.hghca.sockets;

/**
 * What the sockets of this process have done.
 *
 * @param connected connections over RDMA that this process began
 * @param accepted connections over RDMA that it accepted
 * @param open connections over RDMA that are open now
 * @param bytesSent over RDMA
 * @param bytesReceived over RDMA
 * @param platformStreams connections of the platform, which went through this provider
 */
public record SocketCounters(
    long connected,
    long accepted,
    long open,
    long bytesSent,
    long bytesReceived,
    long platformStreams) {
  @Override
  public String toString() {
    return ("rdma connected=%d accepted=%d open=%d bytesSent=%d bytesReceived=%d,"
            + " platform streams=%d")
        .formatted(connected, accepted, open, bytesSent, bytesReceived, platformStreams);
  }
}
