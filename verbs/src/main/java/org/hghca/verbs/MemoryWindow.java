package org.hghca.verbs;

/** A window onto a memory region, with rights and a key of its own: {@code ibv_mw}. Thread-safe. */
public interface MemoryWindow extends AutoCloseable {

  ProtectionDomain protectionDomain();

  MemoryWindowType type();

  /** The key for peers. */
  int rkey();

  @Override
  void close();
}
