package org.hghca.model.transport;

/**
 * The part of a queue pair's context that a transport uses. It is loaded for an event and stored
 * back after it; state and packet sequence numbers are what the transport changes.
 */
public final class ConnectionContext {
  /** Receives come from the queue pair's own queue. */
  public static final int NO_SHARED_QUEUE = -1;

  public int qpn;
  public Service service = Service.RC;
  public QueuePairState state = QueuePairState.RESET;
  public int remoteQpn;
  public int pd;

  /** Bytes of a full packet, 0 when the context names no valid MTU. */
  public int mtu;

  public long sourceMac;
  public long destinationMac;

  /** The IP addresses of the connection; not used for datagrams. */
  public final IpPath path = new IpPath();

  /** Where the connection is with its alternate path. */
  public Migration migration = Migration.MIGRATED;

  /** The alternate path; not used where the connection has migrated. */
  public final IpPath alternatePath = new IpPath();

  public long alternateMac;

  /** As {@link #ackTimeout}. */
  public int alternateAckTimeout;

  /** Whether the connection has migrated since the context was loaded. */
  public boolean migrated;

  /** PSN of the next new packet. */
  public int nextSendPsn;

  /** Oldest PSN that is not acknowledged. */
  public int oldestUnackedPsn;

  /** PSN that the responder expects. */
  public int expectedPsn;

  /** Time-out code: 4.096 us x 2^n, 0 for none. */
  public int ackTimeout;

  /** Number of retries of a request, 0 to 7. */
  public int retryCount;

  /** Number of retries of a request for lack of a receive buffer, 0 to 6, 7 is infinite. */
  public int rnrRetry;

  /** Code of the minimum time that a peer must wait for a receive buffer. */
  public int minRnrTimer;

  /** READs and atomics that may be outstanding as requester and as responder, at least 1. */
  public int maxReads;

  public int maxReadsServed;

  public boolean remoteWrite;
  public boolean remoteRead;
  public boolean remoteAtomic;

  /** Q_Key of datagrams. */
  public int queueKey;

  /** Additional device fields: completion queues and work queues. */
  public int sendCqn;

  public int receiveCqn;

  /** Byte offset of the send queue in its region, and of the receive queue in its. */
  public long sendQueueOffset;

  public long receiveQueueOffset;
  public int sendQueueKey;
  public int sendQueueLength;
  public int receiveQueueKey;
  public int receiveQueueLength;

  /** log2 of a receive slot's bytes. */
  public int receiveSlotLog;

  /** The shared queue that receives come from, or {@link #NO_SHARED_QUEUE}. */
  public int sharedQueue = NO_SHARED_QUEUE;

  /** Which reading of the context this is: the next one may say something else. */
  public long reading;

  private boolean changed;

  /** Whether receives come from a shared queue. */
  public boolean hasSharedQueue() {
    return sharedQueue != NO_SHARED_QUEUE;
  }

  /** Whether the transport changed something since the context was loaded. */
  boolean isChanged() {
    return changed;
  }

  void setChanged(boolean changed) {
    this.changed = changed;
  }
}
