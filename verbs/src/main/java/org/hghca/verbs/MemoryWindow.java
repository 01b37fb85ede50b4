package org.hghca.verbs;

/** A window onto a memory region, with its own rights and key: {@code ibv_mw}. Thread-safe. */
public interface MemoryWindow extends AutoCloseable {

  ProtectionDomain protectionDomain();

  MemoryWindowType type();

  /** The key for peers. */
  int rkey();

  @Override
  void close();
}
