package org.hghca.wire.shm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Optional;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SealedFile;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.shm.Greeting.Ring;

/**
 * Another member, as this one sees it: the connection to it, and the rings to it and from it. Used
 * by one thread at a time.
 */
final class Member {
  /** A ring, and the descriptor of its memory. */
  private record Announced(Ring ring, int file) {}

  /** The first ring: few pages, as most members have little to say to each other. */
  static final int SMALLEST_RING = 64 * 1024;

  /** The largest ring that is accepted, whatever is its maker's limit. */
  static final int LARGEST_RING = 1 << 26;

  private static final int GROWTH = 4;

  /** Rings that a peer may announce before it writes into them: more than its growth can take. */
  private static final int MOST_ANNOUNCED = 16;

  /** A reader that has not moved for so long is stopped, in nanoseconds. */
  private static final long STALLED = 100_000_000;

  private static final MemorySegment ONE =
      Arena.global().allocateFrom(ValueLayout.JAVA_LONG, 1).asReadOnly();

  private final SystemCalls linux;
  private final MemberSocket socket;
  private final int largestRing;
  private final Arena arena = Arena.ofShared();
  private final PairPage own;
  private PairPage peers;
  private RingWriter writer;
  private RingReader reader;

  /** The memory of the rings that are in use; the one before lasts until it is read to its end. */
  private Arena written = Arena.ofShared();

  private Arena read = Arena.ofShared();

  /** The rings to which the peer's stream will lead, of which the messages were read early. */
  private final ArrayDeque<Announced> announced = new ArrayDeque<>();

  private Greeting greeting;
  private int event = -1;
  private long woken;
  private long sleeps;
  private long waits;
  private long fullSince;
  private long fullAt;
  private boolean gone;

  /** Whether it may sleep without having seen what was written last. */
  private boolean mayMiss;

  /**
   * Says hello on a connection.
   *
   * @param ownEvent descriptor of what wakes this member
   * @param largestRing bytes to which a ring may grow, a power of two
   * @throws MemoryException when there is no memory or no descriptor for it
   */
  Member(SystemCalls linux, MemberSocket socket, Greeting self, int ownEvent, int largestRing) {
    this.linux = linux;
    this.socket = socket;
    this.largestRing = largestRing;
    int file = SealedFile.create(linux, "hghca-pair", PairPage.BYTES);
    if (file < 0) {
      close();
      throw new MemoryException(PairPage.BYTES, file);
    }
    MemorySegment page = SealedFile.map(linux, file, PairPage.BYTES, true, arena);
    if (page == null) {
      linux.close(file);
      close();
      throw new MemoryException(PairPage.BYTES, -LinuxErrno.ENOMEM.number());
    }
    own = new PairPage(page);
    own.begin();
    int answer = socket.send(self.write(), ownEvent, file);
    linux.close(file);
    gone = answer < 0;
  }

  int descriptor() {
    return socket.descriptor();
  }

  int process() {
    return socket.process();
  }

  /** Whether it has said who it is, and is not gone. */
  boolean isPresent() {
    return greeting != null && !gone;
  }

  boolean isGone() {
    return gone;
  }

  long mac() {
    return greeting.mac();
  }

  PortAddresses addresses() {
    return greeting.addresses();
  }

  RingWriter writer() {
    return writer;
  }

  RingReader reader() {
    return reader;
  }

  /** Reads its messages. */
  void attend() {
    try {
      for (ByteBuffer message = socket.receive(); message != null; message = socket.receive()) {
        take(message);
        socket.closeDescriptors();
      }
    } catch (ProtocolException e) {
      fail();
    }
  }

  private void take(ByteBuffer message) throws ProtocolException {
    if (greeting == null) {
      meet(message);
      return;
    }
    Optional<Ring> ring = Greeting.readRing(message);
    int file = socket.takeDescriptor();
    if (ring.isEmpty() || file < 0 || announced.size() == MOST_ANNOUNCED) {
      linux.close(file);
      throw new ProtocolException("message of a ring", message.limit());
    }
    announced.add(new Announced(ring.get(), file));
    if (!reader.hasRing()) {
      enterRing();
    }
  }

  private void meet(ByteBuffer message) throws ProtocolException {
    Greeting hello = Greeting.read(message).orElse(null);
    event = socket.takeDescriptor();
    int page = socket.takeDescriptor();
    try {
      if (hello == null
          || event < 0
          || page < 0
          || !SealedFile.isSealed(linux, page, PairPage.BYTES)) {
        throw new ProtocolException("hello", Greeting.layout(message));
      }
      MemorySegment memory = SealedFile.map(linux, page, PairPage.BYTES, false, arena);
      if (memory == null) {
        throw new ProtocolException("no memory for a page", PairPage.BYTES);
      }
      peers = new PairPage(memory);
    } finally {
      linux.close(page);
    }
    if (!peers.isOfThisLayout()) {
      throw new ProtocolException("layout of a page", 0);
    }
    writer = new RingWriter(own, peers);
    reader = new RingReader(own, peers);
    greeting = hello;
  }

  /**
   * Continues to read in the next ring that was announced.
   *
   * @return whether there is one
   */
  boolean enterRing() throws ProtocolException {
    if (announced.isEmpty()) {
      return false;
    }
    Ring ring = announced.peek().ring();
    int file = announced.remove().file();
    Arena its = Arena.ofShared();
    try {
      if (ring.bytes() < SMALLEST_RING
          || ring.bytes() > LARGEST_RING
          || Integer.bitCount(ring.bytes()) != 1
          || ring.position() != reader.position()
          || !SealedFile.isSealed(linux, file, ring.bytes())) {
        throw new ProtocolException("ring", ring.bytes());
      }
      MemorySegment memory = SealedFile.mapTwice(linux, file, ring.bytes(), false, its);
      if (memory == null) {
        throw new ProtocolException("no memory for a ring", ring.bytes());
      }
      reader.continueIn(memory, ring.bytes());
      read.close();
      read = its;
      its = null;
    } finally {
      linux.close(file);
      if (its != null) {
        its.close();
      }
    }
    return true;
  }

  /**
   * Makes room for a record: the first ring, or a larger one.
   *
   * @return whether there is room now
   */
  boolean makeRoom(int record) {
    return writer.hasRoom(record)
        || (!writer.hasRing() || writer.hasRoom(0)) && grow(record) && writer.hasRoom(record);
  }

  private boolean grow(int record) {
    int size = writer.hasRing() ? writer.bytes() : SMALLEST_RING / GROWTH;
    do {
      size *= GROWTH;
    } while (size < largestRing && size < 2 * record);
    size = Math.min(size, largestRing);
    if (size <= writer.bytes()) {
      return false;
    }
    int file = SealedFile.create(linux, "hghca-ring", size);
    if (file < 0) {
      return false; // the smaller one will do
    }
    Arena its = Arena.ofShared();
    MemorySegment memory = SealedFile.mapTwice(linux, file, size, true, its);
    int answer =
        memory == null ? -1 : socket.send(Greeting.write(new Ring(size, writer.nextBegin())), file);
    linux.close(file);
    if (answer < 0) {
      its.close();
      return false;
    }
    writer.continueIn(memory, size);
    written.close(); // what was written there is still mapped by whoever reads it
    written = its;
    return true;
  }

  /** Shows it what was written, and wakes it if it sleeps. */
  void publish() {
    boolean any = writer.publish();
    if (any || mayMiss) {
      mayMiss = false;
      wakeIfAsleep();
    }
  }

  /**
   * Shows it what was written, without waiting until that is seen. It is woken if it is known to
   * sleep; one that goes to sleep just now is by the {@link #publish} that must follow.
   *
   * @return whether there was anything
   */
  boolean show() {
    if (!writer.publish()) {
      return false;
    }
    mayMiss = true;
    if ((peers.sleep() & 1) != 0) {
      publish();
    }
    return true;
  }

  /** Gives it the room of what was read, and wakes it if it sleeps for want of room. */
  void release() {
    if (reader.release()) {
      VarHandle.fullFence();
      if ((peers.waiting() & 1) != 0) {
        wake(peers.sleep());
      }
    }
  }

  private void wakeIfAsleep() {
    VarHandle.fullFence(); // what was written is seen by whoever is seen awake
    wake(peers.sleep());
  }

  private void wake(long sleep) {
    if ((sleep & 1) != 0 && sleep != woken) {
      woken = sleep;
      linux.write(event, ONE);
    }
  }

  /** From now on whoever writes wakes this member, unless {@link #hasMore}. */
  void sleep() {
    sleeps |= 1;
    own.sleep(sleeps);
  }

  /** Nobody needs to wake this member any more. */
  void wakeUp() {
    if ((sleeps & 1) != 0) {
      own.sleep(++sleeps);
    }
  }

  /**
   * Whether there is room in the ring; where there is none, and this member sleeps, it is woken
   * when there is. A reader that has not moved for a while is not waited for: what is sent to it is
   * lost.
   */
  boolean hasRoom(int free) {
    boolean room = makeRoom(free);
    if (room == isWaiting()) {
      own.waiting(++waits);
      fullSince = System.nanoTime();
      fullAt = writer.tail();
      VarHandle.fullFence(); // whoever has made room since sees that it is waited for, or is seen
      room = room || writer.hasRoom(free);
    }
    return room || isStalled();
  }

  private boolean isStalled() {
    long now = System.nanoTime();
    if (writer.tail() != fullAt) {
      fullAt = writer.tail();
      fullSince = now;
    }
    return now - fullSince > STALLED;
  }

  boolean isWaiting() {
    return (waits & 1) != 0;
  }

  boolean hasMore() {
    return reader.hasMore();
  }

  /** It is gone, or wrote what cannot be: nothing is sent to it or read from it any longer. */
  void fail() {
    gone = true;
  }

  /** Releases its memory and descriptors. */
  void close() {
    gone = true;
    socket.close();
    announced.forEach(ring -> linux.close(ring.file()));
    linux.close(event);
    read.close();
    written.close();
    arena.close();
  }
}
