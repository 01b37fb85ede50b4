package org.hghca.cm;

import org.hghca.cm.carrier.PrivateData;

/** What an identifier has at a carrier. */
sealed interface End permits ConnectionEnd, Service, Listening {

  /** Refuses a peer that asks. */
  void reject(PrivateData data);

  /** Ends it; tells the peer as its state requires. */
  void close();
}
