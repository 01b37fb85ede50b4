package org.hghca.virtio;

import java.lang.invoke.VarHandle;
import java.util.Optional;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.virtio.VirtioException.Reason;
import org.hghca.virtio.abi.AvailableRing;
import org.hghca.virtio.abi.Descriptor;
import org.hghca.virtio.abi.UsedRing;

/**
 * A split virtqueue. The driver describes a chain of buffers with {@link #put}, hands it over with
 * {@link #submit}, and makes all that it handed over visible with {@link #kick}; {@link #poll}
 * gives back chains that the device has used. A chain goes by the number of its first descriptor,
 * {@code 0} to {@code size() - 1}, under which a driver keeps what it needs.
 *
 * <p>The device owns the buffers of a chain from {@link #publish} or {@link #kick} until {@link
 * #poll} returns it. Nothing is allocated for a chain.
 *
 * <p>Not thread-safe: a lock of the driver serializes the calls. A device that breaks the
 * specification fails the queue: this call and all later ones throw {@link VirtioException} with
 * reason {@code MALFORMED}.
 */
public final class Virtqueue {
  /** {@link #poll}: the device has used no chain. */
  public static final int NONE = -1;

  private static final int INDEX_MASK = 0xffff;

  private final String name;
  private final int index;
  private final QueueMemory memory;
  private final int size;
  private final boolean eventIndex;

  /** Tells the device of the queue. */
  private final Runnable notification;

  /** Null if the device is not traced. */
  private final DeviceTrace trace;

  /** The driver's own copy of the chains and of the list of free descriptors. */
  private final int[] next;

  /** Of a chain in flight, by its first descriptor: number of descriptors, otherwise 0. */
  private final int[] descriptors;

  /** Of a chain in flight, by its first descriptor: bytes that the device may write. */
  private final long[] room;

  private int firstFree;
  private int free;

  /** The chain that is being described; its first descriptor is free until then. */
  private int building;

  private int head;
  private int tail;
  private int tailFlags;
  private long writable;

  /** Free-running indices: handed over, visible to the device, told to it, given back. */
  private int submitted;

  private int published;
  private int kicked;
  private int consumed;

  /** The device's index when it was read last: at least {@link #consumed}. */
  private int seen;

  private int length;

  /** What {@link #poll} returned last, if it has one descriptor. */
  private int polled = NONE;

  private String failure;

  /**
   * A queue.
   *
   * @param name for messages, such as {@code pci:0000:01:00.0: queue 2}
   * @param eventIndex whether EVENT_IDX was negotiated
   * @param notification writes the queue's notification
   * @param trace where the device is recorded; empty for nowhere
   */
  Virtqueue(
      String name,
      int index,
      QueueMemory memory,
      boolean eventIndex,
      Runnable notification,
      Optional<DeviceTrace> trace) {
    this.name = name;
    this.index = index;
    this.memory = memory;
    this.size = memory.entries();
    this.eventIndex = eventIndex;
    this.notification = notification;
    this.trace = trace.orElse(null);
    this.next = new int[size];
    this.descriptors = new int[size];
    this.room = new long[size];
    rewind();
  }

  /** The number of the queue. */
  public int index() {
    return index;
  }

  /** Number of descriptors, a power of two; the device or the memory may have reduced it. */
  public int size() {
    return size;
  }

  /** Number of descriptors that no chain uses. */
  public int free() {
    return free;
  }

  /** Number of chains that were made visible to the device and not given back. */
  public int inFlight() {
    return published - consumed & INDEX_MASK;
  }

  /**
   * The number that the chain has which is being described, or is described next.
   *
   * @throws IllegalStateException when all descriptors are in use
   */
  public int nextId() {
    if (building > 0) {
      return head;
    }
    checkFree();
    return firstFree;
  }

  /**
   * Adds a buffer to the chain that is being described.
   *
   * @param address bus address, contiguous for the device
   * @param bytes at least 1
   * @param deviceWrites whether the device writes the buffer; otherwise it reads it. Buffers that
   *     it writes come last
   * @throws IllegalStateException when all descriptors are in use: look at {@link #free} before
   * @throws IllegalArgumentException when there is no byte, or a buffer that the device reads
   *     follows one that it writes
   */
  public void put(long address, int bytes, boolean deviceWrites) {
    checkAlive();
    checkFree();
    if (bytes < 1) {
      throw noBytes(bytes);
    }
    if (building > 0 && !deviceWrites && (tailFlags & Descriptor.FLAG_WRITE) != 0) {
      throw new IllegalArgumentException(name + ": buffers that the device writes come last");
    }
    int id = firstFree;
    int flags = deviceWrites ? Descriptor.FLAG_WRITE : 0;
    firstFree = next[id];
    free--;
    memory.putDescriptor(id, address, bytes, flags);
    if (building == 0) {
      head = id;
      writable = 0;
    } else {
      memory.link(tail, tailFlags | Descriptor.FLAG_NEXT, id);
      next[tail] = id;
    }
    building++;
    tail = id;
    tailFlags = flags;
    if (deviceWrites) {
      writable += bytes;
    }
  }

  /**
   * Hands the described chain over; the device sees it after {@link #kick}.
   *
   * @return its number
   * @throws IllegalStateException when none is described
   */
  public int submit() {
    checkAlive();
    if (building == 0) {
      throw new IllegalStateException(name + ": no chain is described");
    }
    descriptors[head] = building;
    room[head] = writable;
    building = 0;
    memory.putAvailable(submitted, head);
    submitted = submitted + 1 & INDEX_MASK;
    return head;
  }

  /**
   * Describes a chain of one buffer and hands it over: as {@link #put} and {@link #submit}, in less
   * time.
   *
   * @return its number
   * @throws IllegalStateException when all descriptors are in use, or a chain is being described
   * @throws IllegalArgumentException when there is no byte
   */
  public int submit(long address, int bytes, boolean deviceWrites) {
    checkAlive();
    checkFree();
    checkNotDescribing();
    if (bytes < 1) {
      throw noBytes(bytes);
    }
    int id = firstFree;
    memory.putDescriptor(id, address, bytes, deviceWrites ? Descriptor.FLAG_WRITE : 0);
    room[id] = deviceWrites ? bytes : 0;
    handOver(id);
    return id;
  }

  /**
   * Hands a chain of one buffer over again, as it was: that which {@link #poll} returned last, if
   * nothing was described since.
   *
   * @throws IllegalStateException when it is another one
   */
  public void submitAgain(int id) {
    checkAlive();
    checkNotDescribing();
    if (id != firstFree || id != polled) {
      throw new IllegalStateException(
          "%s: chain %d is not what was given back last".formatted(name, id));
    }
    handOver(id);
  }

  /** Hands the first free descriptor over, which is filled. */
  private void handOver(int id) {
    firstFree = next[id];
    free--;
    descriptors[id] = 1;
    memory.putAvailable(submitted, id);
    submitted = submitted + 1 & INDEX_MASK;
  }

  private void checkNotDescribing() {
    if (building > 0) {
      throw new IllegalStateException(name + ": a chain is being described");
    }
  }

  private IllegalArgumentException noBytes(int bytes) {
    return new IllegalArgumentException(name + ": a buffer has at least 1 byte, not " + bytes);
  }

  /**
   * Makes all chains visible that were handed over. The device may not look for them before it is
   * notified by {@link #kick}.
   */
  public void publish() {
    checkAlive();
    memory.publishAvailable(submitted);
    published = submitted;
  }

  /**
   * Makes all chains visible that were handed over, and notifies the device if it wants that.
   *
   * @return whether it was notified
   */
  public boolean kick() {
    publish();
    if (submitted == kicked) {
      return false;
    }
    int before = kicked;
    kicked = submitted;
    // The index must be visible before the device's wish is read: otherwise the device may go to
    // sleep without seeing the index, while the driver reads that it is awake.
    VarHandle.fullFence();
    if (!wantsNotification(before)) {
      return false;
    }
    if (trace != null) {
      QueueRecord.notification(trace, index);
    }
    notification.run();
    return true;
  }

  private boolean wantsNotification(int before) {
    if (!eventIndex) {
      return (memory.usedFlags() & UsedRing.FLAG_NO_NOTIFY) == 0;
    }
    int event = memory.availableEvent();
    return (published - event - 1 & INDEX_MASK) < (published - before & INDEX_MASK);
  }

  /**
   * Takes back the next chain that the device has used; its descriptors are free again.
   *
   * @return its number, or {@link #NONE}; {@link #length} tells how much the device wrote
   * @throws VirtioException {@code MALFORMED} when the device used more chains than there are, one
   *     that it does not have, or wrote more than there is room
   */
  public int poll() {
    if (seen == consumed && pending() == 0) {
      return NONE;
    }
    checkAlive();
    long entry = memory.usedEntry(consumed);
    int id = inFlight(entry);
    int written = (int) (entry >>> 32);
    if (trace != null) {
      QueueRecord.used(trace, index, id, written);
    }
    if (Integer.toUnsignedLong(written) > room[id]) {
      throw failed("it wrote %s bytes where %d fit".formatted(unsigned(written), room[id]));
    }
    polled = descriptors[id] == 1 ? id : NONE;
    release(id);
    consumed = consumed + 1 & INDEX_MASK;
    length = written;
    return id;
  }

  /**
   * Number of chains that {@link #poll} returns at least before it finds none.
   *
   * @throws VirtioException {@code MALFORMED} when the device used more chains than there are
   */
  public int pending() {
    checkAlive();
    int used = memory.usedIndex();
    int pending = used - consumed & INDEX_MASK;
    if (pending != 0) {
      int inFlight = inFlight();
      if (pending > inFlight) {
        throw failed("its used index claims %d chains of %d".formatted(pending, inFlight));
      }
    }
    seen = used;
    return pending;
  }

  /**
   * Looks at a chain that a later {@link #poll} takes back.
   *
   * @param after number of chains that are taken back before it, less than {@link #pending}
   * @return its number
   * @throws VirtioException {@code MALFORMED} when the device does not have it
   */
  public int peek(int after) {
    checkAlive();
    return inFlight(memory.usedEntry(consumed + after & INDEX_MASK));
  }

  /** The chain of a used entry, which the device must have. */
  private int inFlight(long entry) {
    int id = (int) entry;
    if (Integer.compareUnsigned(id, size) >= 0 || descriptors[id] == 0) {
      throw failed("it used chain %s, which it does not have".formatted(unsigned(id)));
    }
    return id;
  }

  private static String unsigned(int number) {
    return Integer.toUnsignedString(number);
  }

  private void release(int id) {
    int last = id;
    for (int i = 1; i < descriptors[id]; i++) {
      last = next[last];
    }
    next[last] = firstFree;
    firstFree = id;
    free += descriptors[id];
    descriptors[id] = 0;
  }

  /** Bytes that the device wrote into the chain that {@link #poll} returned last, unsigned. */
  public int length() {
    return length;
  }

  /**
   * Asks for an interrupt when the device has used the next chain.
   *
   * @return false if it has used one already, for which no interrupt may come: poll again
   */
  public boolean arm() {
    checkAlive();
    if (eventIndex) {
      memory.putUsedEvent(consumed);
    } else {
      memory.putAvailableFlags(0);
    }
    // The wish must be visible before the index is read: otherwise a chain that is used in between
    // raises no interrupt and is not seen here.
    VarHandle.fullFence();
    return memory.usedIndex() == consumed;
  }

  /** Asks for no interrupts, as at the beginning; the device may raise some nevertheless. */
  public void disarm() {
    if (eventIndex) {
      memory.putUsedEvent(consumed - 1 & INDEX_MASK);
    } else {
      memory.putAvailableFlags(AvailableRing.FLAG_NO_INTERRUPT);
    }
  }

  /**
   * Begins anew: no chain is in flight, all memory of the queue is zero. For a queue that the
   * device does not use, because it has reset its own side: at a reset of the queue, or when the
   * object was destroyed to which the queue belongs.
   */
  public void rewind() {
    memory.clear();
    for (int id = 0; id < size; id++) {
      next[id] = id + 1;
      descriptors[id] = 0;
    }
    firstFree = 0;
    free = size;
    building = 0;
    submitted = 0;
    published = 0;
    kicked = 0;
    consumed = 0;
    seen = 0;
    polled = NONE;
    failure = null;
    disarm();
  }

  QueueMemory memory() {
    return memory;
  }

  private void checkFree() {
    if (free == 0) {
      throw new IllegalStateException(name + ": all " + size + " descriptors are in use");
    }
  }

  private void checkAlive() {
    if (failure != null) {
      throw new VirtioException(Reason.MALFORMED, failure);
    }
  }

  private VirtioException failed(String what) {
    failure = "%s: the device is broken, %s: reset it".formatted(name, what);
    return new VirtioException(Reason.MALFORMED, failure);
  }
}
