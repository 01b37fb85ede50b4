package org.hghca.verbs;

/**
 * A destination of datagrams: {@code ibv_ah}. Created once and used by any number of requests.
 * Thread- safe. Closing is idempotent; posted requests that use it are not affected.
 */
public interface AddressHandle extends AutoCloseable {

  ProtectionDomain protectionDomain();

  /** The address vector that it was created from, with the hop limit that is sent. */
  AddressVector vector();

  @Override
  void close();
}
