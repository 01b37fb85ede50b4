package org.hghca.cm.carrier;

/** A question of a peer for a UD queue pair. Thread-safe. */
public interface ServiceHandshake extends AutoCloseable {

  /** Answers, once: SIDR_REP. */
  void answer(ServiceReply reply);

  /** Forgets the question; without an answer it is refused with status 2. Idempotent. */
  @Override
  void close();
}
