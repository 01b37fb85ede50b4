package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.hghca.linux.Linux;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PortAddresses;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One thread for all links, while there are any. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class LinkPollerTest {
  private static final String NAME = "hghca-links";
  private static final LinkOptions OPTIONS =
      new LinkOptions(0, PortAddresses.NONE, OptionalInt.empty(), 1, false);

  @TempDir private Path directory;

  private static List<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("hghca"))
        .toList();
  }

  private static int descriptors() {
    String[] open = new java.io.File("/proc/self/fd").list();
    return open.length;
  }

  @Test
  void hundredLinksHaveOneThreadAndLeaveNothing() throws InterruptedException {
    awaitNoThread();
    List<Attachment> attachments = new ArrayList<>();
    List<Link> links = new ArrayList<>();
    attachments.add(attach(links, 0, new CountDownLatch(0)));
    attachments.remove(0).close();
    awaitNoThread();
    int before = descriptors();
    CountDownLatch latch = new CountDownLatch(100);
    for (int i = 0; i < 100; i++) {
      attachments.add(attach(links, i, latch));
    }
    assertThat(threads()).singleElement().extracting(Thread::getName).isEqualTo(NAME);
    assertThat(threads().get(0).isDaemon()).isTrue();
    for (int i = 1; i <= 100; i++) {
      sendTo(links.get(1), i - 1);
    }
    assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    attachments.forEach(Attachment::close);
    awaitNoThread();
    assertThat(descriptors()).isEqualTo(before);
  }

  private static Attachment attach(List<Link> links, int i, CountDownLatch latch) {
    Link link = Links.open("udp:127.0.1." + (i + 1), OPTIONS);
    links.add(link);
    return LinkPoller.shared().add(link, batch -> latch.countDown());
  }

  private static void sendTo(Link link, int i) {
    Packet packet = new PacketPool().take();
    packet.opcode = PacketOpcode.SEND_ONLY;
    packet.destinationIpv4(0x7f00_0101 + i);
    link.send(packet);
    link.flush();
  }

  @Test
  void linkThatFailsIsCalledAgain() throws InterruptedException {
    CountDownLatch latch = new CountDownLatch(2);
    Link link = Links.open("udp:127.0.1.1", OPTIONS);
    Attachment attachment =
        LinkPoller.shared()
            .add(
                link,
                batch -> {
                  latch.countDown();
                  if (latch.getCount() == 1) {
                    throw new IllegalStateException("the test's");
                  }
                });
    sendTo(link, 0);
    while (latch.getCount() == 2) {
      Thread.onSpinWait();
    }
    sendTo(link, 0);
    assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    attachment.close();
  }

  @Test
  void linkMayCloseItself() throws InterruptedException {
    Attachment[] own = new Attachment[1];
    CountDownLatch attached = new CountDownLatch(1);
    CountDownLatch closed = new CountDownLatch(1);
    Link link = Links.open("udp:127.0.1.1", OPTIONS);
    own[0] =
        LinkPoller.shared()
            .add(
                link,
                batch -> {
                  try {
                    attached.await();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                  own[0].close();
                  closed.countDown();
                });
    attached.countDown();
    sendTo(link, 0);
    assertThat(closed.await(20, TimeUnit.SECONDS)).isTrue();
    Links.open("udp:127.0.1.1", OPTIONS).close();
    awaitNoThread();
  }

  @ParameterizedTest
  @ValueSource(strings = {"epollCreate", "eventfd", "epollControl"})
  void linkThatCannotBeReadIsClosedAndTheNextOneIsRead(String call) throws InterruptedException {
    FaultyLinux linux = new FaultyLinux();
    LinkPoller poller = new LinkPoller(linux::system);
    poller.add(Links.open("udp:127.0.1.1", OPTIONS), batch -> {}).close();
    awaitNoThread();
    int before = descriptors();
    linux.fail(call, LinuxErrno.EMFILE);
    Link refused = Links.open("udp:127.0.1.1", OPTIONS);
    assertThatThrownBy(() -> poller.add(refused, batch -> {}))
        .isInstanceOf(LinkException.class)
        .hasMessageContaining("ulimit -n");
    assertThat(threads()).isEmpty();
    assertThat(descriptors()).isEqualTo(before);
    linux.recover();
    assertIsRead(poller);
  }

  @Test
  void linkThatFailsToOpenIsClosed() throws InterruptedException {
    FaultyLinux linux = new FaultyLinux();
    LinkPoller poller = new LinkPoller(linux::system);
    AtomicInteger watched = new AtomicInteger();
    linux.answer(
        "epollControl",
        arguments ->
            watched.incrementAndGet() == 2 // after that which wakes the thread
                ? -LinuxErrno.ENOMEM.number()
                : Linux.system()
                    .epollControl(
                        (int) arguments[0],
                        (int) arguments[1],
                        (int) arguments[2],
                        (MemorySegment) arguments[3]));
    Link refused = Links.open("udp:127.0.1.1", OPTIONS);
    assertThatThrownBy(() -> poller.add(refused, batch -> {})).isInstanceOf(LinkException.class);
    awaitNoThread();
    assertIsRead(poller);
  }

  private static void assertIsRead(LinkPoller poller) throws InterruptedException {
    CountDownLatch latch = new CountDownLatch(1);
    Link link = Links.open("udp:127.0.1.1", OPTIONS);
    Attachment attachment = poller.add(link, batch -> latch.countDown());
    sendTo(link, 0);
    assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
    attachment.close();
    awaitNoThread();
  }

  @Test
  void aThreadThatReadsByItselfGetsWhatHasCome() throws InterruptedException {
    AtomicInteger here = new AtomicInteger();
    AtomicInteger elsewhere = new AtomicInteger();
    Thread reader = Thread.currentThread();
    Link link = Links.open("udp:127.0.1.1", OPTIONS);
    Attachment[] own = new Attachment[1];
    own[0] =
        LinkPoller.shared()
            .add(
                link,
                batch -> {
                  if (Thread.currentThread().equals(reader)) {
                    own[0].read(); // of a user that is called: nothing
                    here.addAndGet(batch.count());
                  } else {
                    elsewhere.addAndGet(batch.count());
                  }
                });
    for (int round = 1; round <= 1000; round++) {
      own[0].read();
      sendTo(link, 0);
      while (here.get() + elsewhere.get() < round) {
        own[0].read();
      }
    }
    assertThat(here.get()).isGreaterThan(elsewhere.get());
    // No other thread reads any more: the poller's thread does.
    int before = here.get() + elsewhere.get();
    sendTo(link, 0);
    while (here.get() + elsewhere.get() == before) {
      Thread.onSpinWait();
    }
    own[0].close();
    own[0].read();
  }

  /** Each packet would wake the poller's thread for nothing. */
  @Test
  void aThreadThatReadsByItselfLetsThePollersThreadSleep() {
    FaultyLinux linux = new FaultyLinux();
    AtomicInteger events = new AtomicInteger();
    linux.answer(
        "epollWait",
        arguments -> {
          int ready =
              Linux.system()
                  .epollWait((int) arguments[0], (MemorySegment) arguments[1], (int) arguments[2]);
          events.addAndGet(Math.max(0, ready));
          return ready;
        });
    AtomicInteger came = new AtomicInteger();
    Link link = Links.open("udp:127.0.1.1", OPTIONS);
    try (Attachment own =
        new LinkPoller(linux::system).add(link, batch -> came.addAndGet(batch.count()))) {
      for (int packets = 1; packets <= 20_000; packets++) {
        own.read();
        sendTo(link, 0);
        while (came.get() < packets) {
          own.read();
        }
      }
    }
    assertThat(events).hasValueLessThan(1000);
  }

  /** It would look only half a millisecond later; one that has not left the link needs no word. */
  @Test
  void aThreadThatStopsToReadWakesThePollersThreadIfThatHasLeftTheLink() {
    FaultyLinux linux = new FaultyLinux();
    AtomicInteger wakes = new AtomicInteger();
    linux.answer(
        "write",
        arguments -> {
          wakes.incrementAndGet();
          return Linux.system().write((int) arguments[0], (MemorySegment) arguments[1]);
        });
    AtomicInteger came = new AtomicInteger();
    Link link = Links.open("udp:127.0.1.1", OPTIONS);
    try (Attachment own =
        new LinkPoller(linux::system).add(link, batch -> came.addAndGet(batch.count()))) {
      long deadline = System.nanoTime() + 20_000_000_000L;
      int before;
      do { // while the poller's thread is about to sleep it may be woken
        assertThat(System.nanoTime()).as("nobody has read").isLessThan(deadline);
        before = wakes.get();
        for (int i = 0; i < 1000; i++) {
          own.endPolling();
        }
      } while (wakes.get() != before);
      for (int packets = 1; wakes.get() == before; packets++) {
        assertThat(System.nanoTime()).isLessThan(deadline);
        own.beginPolling();
        sendTo(link, 0); // the poller's thread goes round, and leaves the link
        while (came.get() < packets) {
          own.read();
        }
        own.endPolling();
      }
    }
  }

  @Test
  void aThreadThatSleepsAtALinkReadsWhatComes() {
    AtomicInteger came = new AtomicInteger();
    List<Thread> readers = Collections.synchronizedList(new ArrayList<>());
    Link link = Links.open("udp:127.0.1.1", OPTIONS);
    try (Attachment own =
        new LinkPoller(Linux::system)
            .add(
                link,
                batch -> {
                  readers.add(Thread.currentThread());
                  came.addAndGet(batch.count());
                })) {
      for (int packets = 1; packets <= 100; packets++) {
        int expected = packets;
        sendTo(link, 0);
        while (came.get() < packets) {
          assertThat(own.sleep(() -> came.get() >= expected)).isTrue();
          own.read();
        }
      }
    }
    assertThat(readers).contains(Thread.currentThread());
  }

  /** Its descriptors are released while it sleeps, and others get their numbers. */
  @Test
  void aThreadThatSleepsAtALinkMayFindItClosed() throws InterruptedException {
    for (int i = 0; i < 200; i++) {
      Link link = Links.open("udp:127.0.1.1", OPTIONS);
      Attachment own = new LinkPoller(Linux::system).add(link, _ -> {});
      CountDownLatch sleeps = new CountDownLatch(1);
      BooleanSupplier never =
          () -> {
            sleeps.countDown();
            return false;
          };
      Thread sleeper =
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (own.sleep(never)) {
                      // until it is closed
                    }
                  });
      assertThat(sleeps.await(20, TimeUnit.SECONDS)).isTrue();
      own.close();
      own.wakes();
      sleeper.join(20_000);
      assertThat(sleeper.isAlive()).isFalse();
    }
  }

  /**
   * It takes the event that was to wake the poller's thread, which may not have run since: its own,
   * or, where it only reads, one that the poller's thread has seen and left to it.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whatComesAfterAThreadHasTakenAnEventIsRead(boolean sleeps) throws InterruptedException {
    FaultyLinux linux = new FaultyLinux();
    AtomicBoolean holds = new AtomicBoolean();
    CountDownLatch asleep = new CountDownLatch(1);
    CountDownLatch runs = new CountDownLatch(1);
    linux.answer(
        "epollWait",
        arguments -> {
          if ((int) arguments[2] < 0 && holds.get()) { // for the poller's thread the system waits
            asleep.countDown();
            awaitUninterruptibly(runs);
          }
          return Linux.system()
              .epollWait((int) arguments[0], (MemorySegment) arguments[1], (int) arguments[2]);
        });
    AtomicInteger came = new AtomicInteger();
    Writer writer = new Writer(member(1));
    Link link = member(2);
    try (Attachment _ = new LinkPoller(Linux::system).add(writer.link, writer);
        Attachment own =
            new LinkPoller(linux::system).add(link, batch -> came.addAndGet(batch.count()))) {
      while (came.get() == 0) { // until they have met
        writer.send(2);
        Thread.onSpinWait();
      }
      holds.set(true);
      own.hasDelivered(System.nanoTime()); // it may sleep already
      assertThat(asleep.await(20, TimeUnit.SECONDS)).isTrue();
      int before = came.get();
      if (sleeps) {
        writer.send(2);
        while (came.get() == before) {
          own.sleep(() -> false);
          own.read();
        }
      } else {
        link.woken();
        own.read();
      }
      before = came.get();
      runs.countDown();
      writer.send(2);
      long deadline = System.nanoTime() + 20_000_000_000L;
      while (came.get() == before) {
        assertThat(System.nanoTime()).as("nobody reads").isLessThan(deadline);
        Thread.onSpinWait();
      }
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A member of a medium of shared memory, 10.0.0.1 and so on. */
  private static Link member(int number) {
    PortAddresses address = PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(0x0a00_0000 + number));
    return Links.open(
        "shm:poller-test", new LinkOptions(number, address, OptionalInt.empty(), 1, false));
  }

  /** Sends to other members, under the lock under which its link is read. */
  private static final class Writer implements LinkUser {
    private final Link link;

    Writer(Link link) {
      this.link = link;
    }

    synchronized void send(int number) {
      Packet packet = new PacketPool().take();
      packet.opcode = PacketOpcode.SEND_ONLY;
      packet.destinationIpv4(0x0a00_0000 + number);
      link.send(packet);
      link.flush();
    }

    @Override
    public synchronized boolean read(Link from, ReceiveBatch batch, boolean waits) {
      return LinkUser.super.read(from, batch, waits);
    }

    @Override
    public synchronized boolean sleep(Link from) {
      return LinkUser.super.sleep(from);
    }

    @Override
    public void arrived(ReceiveBatch batch) {
      // Nobody sends to it.
    }
  }

  /** A peer's question fills no batch, but its answer must leave by the thread that reads. */
  @Test
  void aThreadThatReadsByItselfAnswersNeighbors() throws IOException {
    try (ServerSocketChannel server = listen();
        Attachment own = addFlushedHere(LinkPoller.shared(), stream(Linux.system()));
        SocketChannel peer = server.accept()) {
      byte[] question =
          HexFormat.of()
              .parseHex(
                  "ffffffffffff5254001234560806000108000604"
                      + "0001525400123456"
                      + "0a000002"
                      + "0000000000000a000001");
      peer.write(ByteBuffer.allocate(46).putInt(question.length).put(question).flip());
      readWhilePolling(own, peer, Integer.BYTES + 60);
    }
  }

  @Test
  void aThreadThatReadsByItselfSendsWhatWaitsForRoom() throws IOException {
    try (ServerSocketChannel server = listen()) {
      StreamLink link = stream(Linux.system());
      try (Attachment own = addFlushedHere(LinkPoller.shared(), link);
          SocketChannel peer = server.accept()) {
        Packet packet = new PacketPool().take();
        packet.opcode = PacketOpcode.SEND_ONLY;
        packet.destinationIpv4(0x0a00_0002);
        packet.destinationMac = 0x5254_0012_3456L;
        int sent = 0;
        while (!link.needsFlush()) {
          link.send(packet);
          link.flush();
          sent++;
        }
        assertThat(link.hasRoom()).isTrue();
        // Ethernet, IPv4, UDP, the base transport header, the ICRC
        readWhilePolling(own, peer, sent * (Integer.BYTES + 14 + 20 + 8 + 12 + 4));
      }
    }
  }

  /** The poller's thread sleeps, and hears nothing of the connection's end. */
  @Test
  void whatAThreadThatReadsByItselfLeavesIsDone() throws IOException {
    FaultyLinux linux = new FaultyLinux();
    AtomicInteger watched = new AtomicInteger();
    linux.answer(
        "epollControl",
        arguments ->
            watched.incrementAndGet() > 1 // after that which wakes the thread
                ? 0
                : Linux.system()
                    .epollControl(
                        (int) arguments[0],
                        (int) arguments[1],
                        (int) arguments[2],
                        (MemorySegment) arguments[3]));
    try (ServerSocketChannel server = listen()) {
      StreamLink link = stream(linux.system());
      try (Attachment own = addFlushedHere(new LinkPoller(linux::system), link)) {
        while (linux.count("epollWait") == 0) {
          Thread.onSpinWait();
        }
        server.accept().close();
        while (link.isUp()) {
          own.read();
        }
        server.accept().close(); // the next attempt, by the poller's thread
      }
    }
  }

  private ServerSocketChannel listen() throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    return server.bind(UnixDomainSocketAddress.of(directory.resolve("net")));
  }

  private StreamLink stream(SystemCalls linux) {
    PortAddresses own = PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(0x0a00_0001));
    return new StreamLink(
        linux,
        StreamAddress.parse(directory.resolve("net").toString()),
        new LinkOptions(0x0200_0000_0001L, own, OptionalInt.empty(), 0, false));
  }

  /** What is to be sent is left to the calling thread. */
  private static Attachment addFlushedHere(LinkPoller poller, Link link) {
    Thread here = Thread.currentThread();
    return poller.add(
        link,
        batch -> {
          if (Thread.currentThread().equals(here)) {
            link.flush();
          }
        });
  }

  private static void readWhilePolling(Attachment own, SocketChannel peer, int bytes)
      throws IOException {
    peer.configureBlocking(false);
    ByteBuffer came = ByteBuffer.allocate(bytes);
    while (came.hasRemaining()) {
      own.read();
      assertThat(peer.read(came)).isNotNegative();
    }
  }

  private static void awaitNoThread() throws InterruptedException {
    for (Thread thread : threads()) {
      thread.join(TimeUnit.SECONDS.toMillis(20));
      assertThat(thread.isAlive()).isFalse();
    }
  }
}
