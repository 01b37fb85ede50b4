package org.hghca.model.transport;

/** A receive work request, as read from its queue. */
public final class ReceiveWork {
  /** The maximum number of pieces of local memory. */
  public static final int MAX_PIECES = 32;

  /** SUCCESS when the request can be executed. */
  public WorkStatus status;

  /** The device's identifier of the request; the transport only passes it on. */
  public int position;

  /** Queue pair and Ethernet address of the sender, when the request is done. */
  public int remoteQpn;

  public long remoteMac;

  public final ScatterList pieces = new ScatterList(MAX_PIECES);

  /** Makes the request an empty, valid one. */
  public void clear() {
    if (status != WorkStatus.SUCCESS) {
      status = WorkStatus.SUCCESS; // a reference costs more to store than to compare
    }
    position = 0;
    pieces.clear();
  }
}
