package org.hghca.verbs;

/** An address handle of no device, for tests. */
record FakeHandle(AddressVector vector) implements AddressHandle {
  @Override
  public ProtectionDomain protectionDomain() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
