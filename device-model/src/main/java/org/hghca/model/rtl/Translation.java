package org.hghca.model.rtl;

import java.lang.foreign.MemorySegment;

/**
 * Memory access by key in the RTL's translation unit. A check returns a sum of the bits below,
 * {@link #OK} for none. An access follows a check that answered OK and always goes through: where
 * no ICM page backs the entry of a key or of a page, the card takes it from bus address 0 plus its
 * offset in the page, and DMA goes to the resulting address.
 */
public interface Translation {
  int OK = 0;
  int WRONG_PD = 1;
  int WRONG_FLAGS = 2;
  int WRONG_KEY = 4;
  int WRONG_LENGTH = 8;

  /**
   * Checks an access by virtual address.
   *
   * @param flags MptFlags bits that the entry must have; 0 for none
   */
  int check(int key, int pd, long address, long length, int flags);

  /** Checks an access that counts from the first page of its region, as those to queues do. */
  int checkQueue(int key, int pd, long offset, long length, int flags);

  void read(int key, long address, MemorySegment target, long at, int length);

  void write(int key, long address, MemorySegment source, long at, int length);

  void readQueue(int key, long offset, MemorySegment target, long at, int length);

  void writeQueue(int key, long offset, MemorySegment source, long at, int length);
}
