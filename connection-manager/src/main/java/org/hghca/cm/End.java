package org.hghca.cm;

import org.hghca.cm.carrier.PrivateData;
import org.hghca.verbs.Context;

/** What an identifier has at a carrier. */
interface End {

  /**
   * Accepts a peer that asks.
   *
   * @throws org.hghca.verbs.VerbsException EINVAL when the parameters exceed the device or the
   *     message
   */
  void accept(Context context, ConnectionParameters parameters);

  /** Refuses a peer that asks. */
  void reject(PrivateData data);

  /** Ends it; tells the peer as its state requires. */
  void close();
}
