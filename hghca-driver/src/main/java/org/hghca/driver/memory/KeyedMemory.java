package org.hghca.driver.memory;

/**
 * Memory of the application as requests name it.
 *
 * @param key lkey and rkey
 * @param pd the number of its protection domain
 * @param start the address of the first byte
 * @param length in bytes, exactly as it was registered
 * @param access bits of {@link org.hghca.verbs.AccessFlag}
 */
public record KeyedMemory(int key, int pd, long start, long length, int access) {
  /** Whether bytes lie in the memory. */
  public boolean contains(long address, long bytes) {
    long offset = address - start;
    return (offset | length - bytes - offset) >= 0;
  }
}
