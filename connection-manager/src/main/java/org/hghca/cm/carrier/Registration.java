package org.hghca.cm.carrier;

/** Something that goes on until it is closed. */
public interface Registration extends AutoCloseable {

  /** Ends it. Idempotent. */
  @Override
  void close();
}
