package org.hghca.verbs;

/**
 * A destination of datagrams: {@code ibv_ah}. Made once and used by any number of requests. Thread-
 * safe. Closing is idempotent; requests that were posted with it are not disturbed.
 */
public interface AddressHandle extends AutoCloseable {

  ProtectionDomain protectionDomain();

  /** The way that datagrams take: what it was made from, with the hop limit that is sent. */
  AddressVector vector();

  @Override
  void close();
}
