package org.hghca.wire.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketRun;
import org.hghca.wire.PortAddresses;

/**
 * A member of a medium in shared memory, and those it has met there. It has two descriptors to wait
 * on: one that another member writes to when there is something for this one and it sleeps, and one
 * that has an event when members come, go or send a message. Used by one thread at a time.
 */
public final class Members implements AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(Members.class);

  // sys/epoll.h, sys/eventfd.h
  private static final int CLOSE_ON_EXEC = 0x8_0000;
  private static final int NONBLOCK = 0x800;
  private static final int ADD = 1;
  private static final int READABLE = 1;
  private static final int EVENT = 12;
  private static final int EVENTS = 16;

  /** Records of a member that are taken before the others have their turn. */
  private static final int MOST_RECORDS = 64;

  /** Free bytes of a ring below which there is no room: several packets may come at once. */
  private static final int SPARE = 32 * 1024;

  private static final long GREETING_NANOS = 1_000_000_000;

  private final SystemCalls linux;
  private final Greeting self;
  private final int largestRing;
  private final Path file;
  private final int listener;
  private final int event;
  private final int epoll;
  private final MemorySegment events = Arena.ofAuto().allocate((long) EVENTS * EVENT, 8);
  private final MemorySegment count = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
  private final PacketRun run = new PacketRun();
  private volatile Member[] members = {};
  private boolean closed;

  /** Whether this member sleeps, and is woken by an event only. */
  private boolean asleep;

  /** Whether somebody may sleep who has not seen what was sent. */
  private boolean needsFlush;

  /** Whose turn it is to be read first. */
  private int first;

  /** The member that was found last. */
  private Member last;

  /**
   * Joins a medium: meets all who are there.
   *
   * @param name of the medium, that of a file
   * @param mac of this member's port
   * @param addresses of its port, at most {@value Greeting#MOST_ADDRESSES}
   * @param largestRing bytes to which a ring may grow, a power of two
   * @throws IOException saying what is missing, and the fix
   */
  public Members(SystemCalls linux, String name, long mac, PortAddresses addresses, int largestRing)
      throws IOException {
    this.linux = linux;
    this.self = new Greeting(mac, addresses);
    this.largestRing = largestRing;
    this.event = check(linux.eventfd(0, CLOSE_ON_EXEC | NONBLOCK), "eventfd");
    this.epoll = check(linux.epollCreate(CLOSE_ON_EXEC), "epoll_create1");
    MeetingPlace.Arrival arrival;
    try {
      arrival = new MeetingPlace(linux, name).come();
    } catch (IOException | RuntimeException e) {
      linux.close(event);
      linux.close(epoll);
      throw e;
    }
    this.file = arrival.file();
    this.listener = arrival.listener();
    try {
      watch(listener);
      arrival.connections().forEach(this::meet);
      greet();
      checkAddresses();
    } catch (IOException | RuntimeException e) {
      close();
      throw e;
    }
  }

  private static int check(int answer, String call) throws IOException {
    if (answer < 0) {
      throw new IOException("%s: %s".formatted(call, LinuxErrno.describe(answer)));
    }
    return answer;
  }

  private void watch(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment wanted = arena.allocate(EVENT, 4);
      wanted.set(ValueLayout.JAVA_INT_UNALIGNED, 0, READABLE);
      wanted.set(ValueLayout.JAVA_INT_UNALIGNED, 4, descriptor);
      linux.epollControl(epoll, ADD, descriptor, wanted);
    }
  }

  private void meet(int connection) {
    MemberSocket socket = new MemberSocket(linux, connection);
    if (socket.user() != linux.geteuid()) {
      LOG.warn(About.peer("process " + socket.process()), "a process of another user is refused");
      socket.close();
      return;
    }
    Member member = new Member(linux, socket, self, event, largestRing);
    watch(connection);
    Member[] more = Arrays.copyOf(members, members.length + 1);
    more[members.length] = member;
    members = more;
  }

  /** Waits until everybody who was there has said who he is; not for one that is stopped. */
  private void greet() {
    long until = System.nanoTime() + GREETING_NANOS;
    while (Arrays.stream(members).anyMatch(member -> !member.isPresent() && !member.isGone())
        && System.nanoTime() - until < 0) {
      attend(10);
    }
  }

  private void checkAddresses() throws IOException {
    for (Member member : members) {
      for (int i = 0; member.isPresent() && i < self.addresses().count(); i++) {
        if (member.addresses().has(self.addresses().high(i), self.addresses().low(i))) {
          throw new IOException(
              "process %d has the same address: give this one another, with ip="
                  .formatted(member.process()));
        }
      }
    }
  }

  /** The descriptor that other members write to, to wake this one. */
  public int event() {
    return event;
  }

  /** The descriptor that has an event when there is something to {@link #attend}. */
  public int meetings() {
    return epoll;
  }

  /** The number of others that are there. */
  public int count() {
    return (int) Arrays.stream(members).filter(Member::isPresent).count();
  }

  /** Meets members that have come, reads messages, and forgets who is gone. */
  public void attend() {
    attend(0);
  }

  private void attend(int millis) {
    int ready = linux.epollWait(epoll, events, millis);
    for (int i = 0; i < ready; i++) {
      int descriptor = events.get(ValueLayout.JAVA_INT_UNALIGNED, (long) i * EVENT + 4);
      if (descriptor == listener) {
        accept();
      } else {
        for (Member member : members) {
          if (member.descriptor() == descriptor) {
            member.attend();
          }
        }
      }
    }
    forgetTheGone();
  }

  private void accept() {
    int connection = linux.accept(listener, MemberSocket.NONBLOCK_CLOSE_ON_EXEC);
    if (connection < 0) {
      return;
    }
    try {
      meet(connection);
    } catch (MemoryException e) {
      LOG.warn(About.NOTHING, "a member that has come cannot be met: {}", e.getMessage());
    }
  }

  private void forgetTheGone() {
    for (Member member : members) {
      if (member.isGone()) {
        members = Arrays.stream(members).filter(other -> other != member).toArray(Member[]::new);
        last = null;
        member.close();
      }
    }
  }

  /** Whether packets to an address have a member to go to. */
  public boolean reaches(long high, long low) {
    return find(high, low) != null;
  }

  private Member find(long high, long low) {
    Member found = last;
    if (found != null && found.addresses().has(high, low)) {
      return found;
    }
    for (Member member : members) {
      if (member.isPresent() && member.addresses().has(high, low)) {
        last = member;
        return member;
      }
    }
    return null;
  }

  private Member find(long mac) {
    for (Member member : members) {
      if (member.isPresent() && member.mac() == mac) {
        return member;
      }
    }
    return null;
  }

  /**
   * Sends a packet to the member that has its address, or its MAC where it has none; to all where
   * it is for a group; a frame to the one with its MAC, or to all. It stays the caller's.
   *
   * @return false where nobody has the address, or there is no room
   */
  public boolean send(Packet packet) {
    if (packet.plain || IpAddress.isGroup(packet.destinationIpHigh, packet.destinationIpLow)) {
      return sendToMany(packet);
    }
    boolean hasAddress = (packet.destinationIpHigh | packet.destinationIpLow) != 0;
    Member member =
        hasAddress
            ? find(packet.destinationIpHigh, packet.destinationIpLow)
            : find(packet.destinationMac);
    return member != null && send(member, packet);
  }

  private boolean sendToMany(Packet packet) {
    boolean sent = false;
    for (Member member : members) {
      if (member.isPresent() && isFor(member, packet)) {
        sent |= send(member, packet);
      }
    }
    return sent;
  }

  private static boolean isFor(Member member, Packet packet) {
    boolean toMany = (packet.destinationMac >>> 40 & 1) != 0;
    return !packet.plain || toMany || member.mac() == packet.destinationMac;
  }

  private boolean send(Member member, Packet packet) {
    int record = RingWriter.size(packet, self.addresses(), member.addresses());
    if (!member.makeRoom(record)) {
      return false;
    }
    member.writer().write(packet, self.addresses(), member.addresses());
    return true;
  }

  /** The most bytes of a run to an address, 0 where none can be sent now. */
  public int longestRun(long high, long low) {
    Member member = find(high, low);
    if (member == null) {
      return 0;
    }
    member.makeRoom(Member.SMALLEST_RING / 2);
    return member.writer().longestRun();
  }

  /**
   * Sends a run of packets: its payload is copied now.
   *
   * @return false where it must be sent packet by packet
   */
  public boolean send(PacketRun packets) {
    Member member = find(packets.first.destinationIpHigh, packets.first.destinationIpLow);
    if (member == null
        || !member.makeRoom(RingWriter.size(packets, self.addresses(), member.addresses()))) {
      return false;
    }
    member.writer().write(packets, self.addresses(), member.addresses());
    member.publish(); // the reader can copy it while more is written
    return true;
  }

  /**
   * As {@link #flush}, which must follow soon: this one does not wait until what was sent is seen.
   * Called again with nothing new, it is that; and while this member sleeps, as nothing but an
   * event would make another one follow.
   */
  public void flushSoon() {
    if (asleep) {
      flush();
      return;
    }
    boolean shown = false;
    for (Member member : members) {
      shown |= member.isPresent() && member.show();
    }
    if (shown) {
      needsFlush = true;
    } else if (needsFlush) {
      flush();
    }
  }

  /** Whether a {@link #flush} must follow; by any thread, to which it is a hint. */
  public boolean needsFlush() {
    return needsFlush;
  }

  /** Shows what was sent to whom it was sent, and wakes those who sleep. */
  public void flush() {
    needsFlush = false;
    for (Member member : members) {
      if (member.isPresent()) {
        member.publish();
      }
    }
  }

  /**
   * Whether there is room to send, whoever is the receiver. A member that has not moved for a while
   * is not waited for: what is sent to it is lost.
   */
  public boolean hasRoom() {
    boolean room = true;
    for (Member member : members) {
      if (member.isPresent() && member.writer().hasRing()) {
        room &= member.hasRoom(SPARE);
      }
    }
    return room;
  }

  /** Whether something may have come that was not taken; by any thread. */
  public boolean hasMore() {
    for (Member member : members) {
      if (member.isPresent() && member.hasMore()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Takes what has come.
   *
   * @return whether something is left, since it must be taken later
   */
  public boolean receive(Receiver receiver) {
    Member[] present = members;
    boolean left = false;
    for (int i = 0; i < present.length; i++) {
      Member member = present[(first + i) % present.length];
      if (member.isPresent()) {
        left |= receive(member, receiver);
      }
    }
    first = present.length == 0 ? 0 : (first + 1) % present.length;
    return left;
  }

  private boolean receive(Member member, Receiver receiver) {
    boolean left = false;
    try {
      left = read(member, receiver);
    } catch (ProtocolException e) {
      LOG.warn(
          About.peer("process " + member.process()),
          "a member broke the protocol and is left alone: {}",
          e.getMessage());
      member.fail();
      forgetTheGone();
      return false;
    }
    member.release();
    return left;
  }

  /** Returns whether something is left. */
  private boolean read(Member member, Receiver receiver) throws ProtocolException {
    RingReader ring = member.reader();
    for (int i = 0; i < MOST_RECORDS; i++) {
      switch (ring.next()) {
        case 0 -> {
          if (ring.hasRing() || !ring.hasMore()) {
            return false;
          }
          member.attend(); // the first ring's message was sent before what is in it
          if (!ring.hasRing()) {
            return false;
          }
        }
        case RecordHeader.PACKET, RecordHeader.FRAME -> {
          Packet packet = receiver.packet();
          if (packet == null) {
            return true;
          }
          ring.read(packet, self.addresses(), member.addresses(), self.mac(), member.mac());
          ring.skip();
          receiver.take(packet);
        }
        case RecordHeader.CONTINUED -> {
          ring.skip();
          member.attend();
          if (!member.enterRing()) {
            throw new ProtocolException("ring that continues", ring.position());
          }
        }
        default -> {
          ring.read(run, self.addresses(), member.addresses(), self.mac(), member.mac());
          PacketRun.Outcome outcome =
              ring.unfolded() > 0 ? PacketRun.Outcome.REFUSED : receiver.take(run);
          if (outcome == PacketRun.Outcome.LATER
              || outcome == PacketRun.Outcome.REFUSED && !unfold(ring, receiver)) {
            return true;
          }
          ring.skip();
          return ring.hasMore(); // the sender waits for what answers it
        }
      }
    }
    return ring.hasMore();
  }

  /** The packets of a run come one by one; returns whether there was room for all that are left. */
  private boolean unfold(RingReader ring, Receiver receiver) {
    while (ring.unfolded() < run.packets) {
      Packet packet = receiver.packet();
      if (packet == null) {
        return false;
      }
      run.unfold(ring.unfolded(), packet);
      ring.unfold();
      receiver.take(packet);
    }
    return true;
  }

  /**
   * From now on whoever sends wakes this member by its {@link #event}, unless there is something
   * already.
   *
   * @return whether there is nothing to do
   */
  public boolean sleep() {
    flush();
    asleep = true;
    for (Member member : members) {
      member.sleep();
    }
    VarHandle.fullFence();
    for (Member member : members) {
      if (member.isPresent()
          && (member.hasMore() || member.isWaiting() && member.writer().hasRoom(SPARE))) {
        wakeUp();
        return false;
      }
    }
    return true;
  }

  /** Whether whoever sends wakes this member. */
  public boolean isAsleep() {
    return asleep;
  }

  /**
   * Nobody needs to wake this member any more.
   *
   * @return whether somebody did by its {@link #event}
   */
  public boolean wakeUp() {
    asleep = false;
    for (Member member : members) {
      member.wakeUp();
    }
    return linux.read(event, count) > 0;
  }

  /** Leaves the medium. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      LOG.debug(About.NOTHING, "{} stays: the next member removes it", file, e);
    }
    linux.close(listener);
    for (Member member : members) {
      member.close();
    }
    members = new Member[0];
    linux.close(event);
    linux.close(epoll);
  }
}
