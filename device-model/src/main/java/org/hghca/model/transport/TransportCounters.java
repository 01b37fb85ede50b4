package org.hghca.model.transport;

import org.hghca.wire.DropCounters;

/** What a transport has done since it was made. Written by its own thread, read by any. */
public final class TransportCounters {
  public long packetsSent;
  public long packetsReceived;

  /** Packets that were dropped. */
  public final DropCounters drops = new DropCounters();

  /** Times a requester began to repeat packets, for whatever reason. */
  public long retries;

  /** Times an acknowledgement did not come in time. */
  public long timeouts;

  public long naksSent;
  public long naksReceived;
  public long rnrNaksSent;
  public long rnrNaksReceived;

  /** Requests that came twice. */
  public long duplicates;
}
