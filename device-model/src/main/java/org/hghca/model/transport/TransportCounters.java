package org.hghca.model.transport;

import org.hghca.wire.DropCounters;

/** The counters of a transport since its creation. Written by its own thread, read by any. */
public final class TransportCounters {
  public long packetsSent;
  public long packetsReceived;

  /** Packets that were dropped. */
  public final DropCounters drops = new DropCounters();

  /** Number of times that a requester started a retransmission, for any reason. */
  public long retries;

  /** Number of times that an acknowledgement was late. */
  public long timeouts;

  public long naksSent;
  public long naksReceived;
  public long rnrNaksSent;
  public long rnrNaksReceived;

  /** Packets that a switch has marked for congestion. */
  public long congestionMarks;

  public long notificationsSent;
  public long notificationsReceived;

  /** Requests that came twice. */
  public long duplicates;

  /** Requests of reliable connections behind which the PSN goes on at 0, or beyond it. */
  public long psnWraps;
}
