package org.hghca.sockets.stream;

import org.hghca.cm.CmEvent;

/** Who has an identifier of the connection manager. */
interface CmHandler {
  /** Takes an event: one at a time, on the thread of the device's events. */
  void happened(CmEvent event);

  /** The device closes: ends what there is, without waiting. */
  void abandon();
}
