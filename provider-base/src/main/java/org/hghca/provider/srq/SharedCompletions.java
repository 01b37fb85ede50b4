package org.hghca.provider.srq;

/** A completion queue, for shared receive queues whose queue pairs receive into it. */
public interface SharedCompletions {

  /** Reserves room for requests; ENOMEM when there is less. */
  void reserve(int requests);

  void unreserve(int requests);

  /** Reports the unpolled receives to their {@link ReceiveShare}s. Without a lock. */
  void noteReceives();
}
