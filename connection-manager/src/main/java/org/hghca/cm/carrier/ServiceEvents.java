package org.hghca.cm.carrier;

import org.hghca.verbs.VerbsException;

/** What comes of the question for a UD queue pair: one of these calls, once. */
public interface ServiceEvents {

  /** The peer has answered, with a queue pair or with a reason why there is none. */
  void answered(ServiceReply reply);

  /**
   * The peer does not answer.
   *
   * @param tried what was sent, how often and for how long, for an error message
   */
  void unreachable(String tried);

  /**
   * The carrier has failed, as when its device has.
   *
   * @param cause EIO
   */
  void failed(VerbsException cause);
}
