package org.hghca.verbs;

/**
 * A destination of datagrams: {@code ibv_ah}. Made once and used by any number of requests. Thread-
 * safe. Closing is idempotent; requests that were posted with it are not disturbed.
 */
public interface AddressHandle extends AutoCloseable {

  ProtectionDomain protectionDomain();

  /** What it was made from. */
  AddressVector vector();

  @Override
  void close();
}
