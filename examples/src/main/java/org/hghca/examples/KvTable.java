package org.hghca.examples;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.OptionalLong;
import java.util.zip.CRC32C;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.RemoteMemory;
import org.hghca.verbs.SendRequest;

/**
 * The table of {@link Kv}, as a client sees it: memory of the server. Used by one thread.
 *
 * <p>A slot has four numbers: a version, which is 0 in a slot that was never used and odd while a
 * writer has it; a checksum, by which a reader sees that the slot changed while it was read; the
 * key; the value.
 */
final class KvTable {
  private static final long SLOTS = 64;
  private static final long SLOT = 32;
  private static final long CHECKSUM = 8;
  private static final long KEY = 16;
  private static final long VALUE = 24;

  /** Of the table. */
  static final long BYTES = SLOTS * SLOT;

  /** Of a client's own memory: a slot, and the result of an atomic. */
  static final long LOCAL_BYTES = SLOT + 8;

  private final QueuePair qp;
  private final MemoryRegion memory;
  private final RemoteMemory table;
  private final MemorySegment slot;
  private long retries;

  /** A table at the peer of a queue pair, every request of which completes. */
  KvTable(QueuePair qp, MemoryRegion memory, RemoteMemory table) {
    this.qp = qp;
    this.memory = memory;
    this.table = table;
    this.slot = memory.segment().asSlice(0, SLOT);
  }

  OptionalLong get(long key) throws Exception {
    find(key);
    return version() == 0 ? OptionalLong.empty() : OptionalLong.of(slot.get(JAVA_LONG, VALUE));
  }

  /** Adds to the value of a key, which is 0 at first. */
  void add(long key, long amount) throws Exception {
    while (true) {
      RemoteMemory place = find(key);
      long version = version();
      long value = slot.get(JAVA_LONG, VALUE) + amount;
      if (compareAndSwap(place, version, version + 1) == version) { // the slot is ours
        slot.set(JAVA_LONG, 0, version + 2);
        slot.set(JAVA_LONG, KEY, key);
        slot.set(JAVA_LONG, VALUE, value);
        slot.set(JAVA_LONG, CHECKSUM, checksum());
        write(place, CHECKSUM, SLOT - CHECKSUM);
        write(place, 0, CHECKSUM); // executed after the other: now the slot is everybody's
        return;
      }
      retries++; // another writer was faster: look again
    }
  }

  /** Reads slots until one has the key or is free. */
  private RemoteMemory find(long key) throws Exception {
    for (long i = 0; i < SLOTS; i++) {
      RemoteMemory place = table.slice((key * 31 + i) % SLOTS * SLOT, SLOT);
      read(place);
      while (version() % 2 != 0 || version() != 0 && slot.get(JAVA_LONG, CHECKSUM) != checksum()) {
        retries++; // a writer has it
        read(place);
      }
      if (version() == 0 || slot.get(JAVA_LONG, KEY) == key) {
        return place;
      }
    }
    throw new IllegalStateException("the table is full");
  }

  private long version() {
    return slot.get(JAVA_LONG, 0);
  }

  /** Of all but the checksum itself. */
  private long checksum() {
    CRC32C checksum = new CRC32C();
    checksum.update(slot.asSlice(0, CHECKSUM).asByteBuffer());
    checksum.update(slot.asSlice(KEY).asByteBuffer());
    return checksum.getValue();
  }

  private void read(RemoteMemory place) throws Exception {
    run(new SendRequest().rdmaRead(place).sge(memory, 0, SLOT));
  }

  private void write(RemoteMemory place, long from, long bytes) throws Exception {
    run(new SendRequest().rdmaWrite(place.slice(from, bytes)).sge(memory, from, bytes));
  }

  /** Returns the old number: the swap has happened if it is the expected one. */
  private long compareAndSwap(RemoteMemory place, long expected, long changed) throws Exception {
    SendRequest request = new SendRequest();
    request.compareAndSwap(place.address(), place.rkey(), expected, changed);
    run(request.sge(memory, SLOT, 8));
    return memory.segment().get(JAVA_LONG, SLOT);
  }

  private void run(SendRequest request) throws Exception {
    qp.postSend(request);
    End.await(qp.sendCompletionQueue());
  }

  /** How often another writer had the slot. */
  long retries() {
    return retries;
  }

  /** The value of a key in the server's own memory, when all writers have left; 0 without one. */
  static long local(MemorySegment table, long key) {
    for (long at = 0; at < BYTES; at += SLOT) {
      if (table.get(JAVA_LONG, at) != 0 && table.get(JAVA_LONG, at + KEY) == key) {
        return table.get(JAVA_LONG, at + VALUE);
      }
    }
    return 0;
  }
}
