package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.locks.LockSupport;
import org.hghca.linux.LinuxErrno;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.hghca.wire.frame.FrameEncoder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Peers that misbehave, and a system that refuses calls; the test replaces the poller. */
final class StreamFaultsTest extends StreamEnds {
  private static final LinkOptions OPTIONS =
      new LinkOptions(OWN_MAC, ADDRESSES, OptionalInt.empty(), 0, false);

  /** In {@code struct msghdr} with the one vector that follows it: the length of the memory. */
  private static final long ROOM_AT = 64;

  private final FaultyLinux linux = new FaultyLinux();
  private final List<String> watched = new ArrayList<>();
  private final ReceiveBatch batch = new ReceiveBatch();

  /** How many descriptors cannot be watched before the next one can. */
  private int fullOf;

  private final LinkWatch watch =
      new LinkWatch() {
        @Override
        public void add(int descriptor, int events) {
          if (fullOf > 0) {
            fullOf--;
            throw new LinkException(LinkException.Reason.SYSTEM, "no room to watch");
          }
          watched.add("add " + events);
        }

        @Override
        public void change(int descriptor, int events) {
          watched.add("change " + events);
        }

        @Override
        public void remove(int descriptor) {
          watched.add("remove");
        }

        @Override
        public void pollSoon() {
          watched.add("pollSoon");
        }
      };

  private StreamLink link() {
    StreamLink link = new StreamLink(linux.system(), StreamAddress.parse(path()), OPTIONS);
    open.add(0, link);
    link.open(watch);
    return link;
  }

  private void receive(Link link) {
    batch.clear();
    link.receive(batch);
  }

  private static Packet packet(long toMac) {
    Packet packet = new PacketPool().take();
    packet.opcode = PacketOpcode.SEND_ONLY;
    packet.destinationMac = toMac;
    packet.destinationIpv4(PEER);
    return packet;
  }

  /** A frame to us behind its length. */
  private static ByteBuffer frame() {
    Packet packet = packet(OWN_MAC);
    packet.sourceMac = PEER_MAC;
    packet.sourceIpv4(PEER);
    packet.destinationIpv4(OWN);
    MemorySegment memory = MemorySegment.ofArray(new byte[8192]);
    int length = new FrameEncoder(memory).encode(packet, 0);
    ByteBuffer frame = ByteBuffer.allocate(Integer.BYTES + length).putInt(length);
    return frame.put(memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE)).flip();
  }

  @Test
  void framesWithoutPacketsDoNotBlockThePoller() throws IOException {
    listen();
    StreamLink link = link();
    // Zeros are empty frames. The link's receive buffer contains zeros already.
    linux.answer(
        "recvmsg",
        arguments ->
            linux.count("recvmsg") > 100
                ? (long) -LinuxErrno.EAGAIN.number()
                : ((MemorySegment) arguments[1]).get(ValueLayout.JAVA_LONG, ROOM_AT));
    receive(link);
    assertThat(linux.count("recvmsg")).isBetween(1L, 4L);
    assertThat(batch.count()).isZero();
    assertThat(link.isUp()).isTrue();
    assertThat(link.deadline()).as("what the kernel still has wakes").isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void framesBeyondTheBatchAreDueAtOnce() throws IOException {
    ServerSocketChannel server = listen();
    StreamLink link = link();
    SocketChannel peer = server.accept();
    open.add(peer);
    for (int i = 0; i <= ReceiveBatch.SIZE; i++) {
      peer.write(frame());
    }
    receive(link);
    assertThat(batch.count()).isEqualTo(ReceiveBatch.SIZE);
    long now = System.nanoTime();
    assertThat(link.deadline()).as("of a poller that looks now").isLessThanOrEqualTo(now);
    receive(link);
    assertThat(batch.count()).isEqualTo(1);
    assertThat(link.deadline()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void reportsWithoutRoomAreNotDueUntilThereIsRoom() throws IOException {
    listen();
    StreamLink link = link();
    linux.answer("sendmsg", _ -> (long) -LinuxErrno.EAGAIN.number());
    while (!link.counters().notSent().containsKey(SendFailure.BUFFER_FULL)) {
      link.send(packet(PEER_MAC));
    }
    for (int i = 1; i <= 200; i++) { // more than the bytes that a long frame leaves free
      link.join(0, IpAddress.lowOfIpv4(0xef00_0000 | i));
    }
    link.flush();
    assertThat(link.hasRoom()).isFalse();
    assertThat(link.deadline()).as("an event tells of room").isEqualTo(Long.MAX_VALUE);
    linux.answer(
        "sendmsg", arguments -> ((MemorySegment) arguments[1]).get(ValueLayout.JAVA_LONG, ROOM_AT));
    link.flush();
    assertThat(link.deadline()).as("there is room").isLessThanOrEqualTo(System.nanoTime());
    long before = System.nanoTime();
    link.flush();
    assertThat(link.deadline()).as("of what is repeated").isGreaterThan(before);
  }

  @Test
  void packetsWaitingForANeighborEndWithTheConnection() throws IOException {
    ServerSocketChannel server = listen();
    StreamLink link = link();
    SocketChannel peer = server.accept();
    link.send(packet(0));
    link.send(packet(0));
    link.flush();
    peer.close();
    long before = System.nanoTime();
    receive(link);
    assertThat(link.isUp()).isFalse();
    assertThat(link.counters().notSent()).isEqualTo(Map.of(SendFailure.DOWN, 2L));
    assertThat(link.deadline())
        .as("the next attempt, not the next question")
        .isGreaterThanOrEqualTo(before + StreamConnection.INTERVAL);
  }

  @Test
  void peerThatStopsReadingEndsTheConnection() throws IOException {
    ServerSocketChannel server = listen();
    StreamLink link = link();
    SocketChannel peer = server.accept();
    open.add(peer);
    peer.shutdownInput();
    link.send(packet(PEER_MAC));
    link.flush();
    receive(link);
    assertThat(link.isUp()).isFalse();
    assertThat(watched).containsExactly("add 1");
  }

  private StreamConnection connection(String prefix) {
    StreamConnection connection =
        new StreamConnection(linux.system(), StreamAddress.parse(prefix + path()));
    open.add(0, connection::close);
    connection.open(watch);
    return connection;
  }

  @Test
  void connectWithoutASocketIsRepeatedAfterTheInterval() throws IOException {
    listen();
    StreamConnection connection = connection("");
    connection.end(0);
    long first = connection.due();
    linux.fail("socket", LinuxErrno.EMFILE);
    assertThatThrownBy(() -> connection.progress(first))
        .isInstanceOf(LinkException.class)
        .hasMessageContaining("ulimit -n");
    assertThat(connection.due()).isEqualTo(first + StreamConnection.INTERVAL);
    linux.recover();
    connection.progress(connection.due());
    assertThat(connection.isUp()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void listenerThatCannotAcceptIsNotWatchedForTheInterval(boolean hasPeer) throws IOException {
    StreamConnection connection = connection("listen:");
    if (hasPeer) {
      open.add(SocketChannel.open(UnixDomainSocketAddress.of(path())));
      connection.progress(0);
      assertThat(connection.isUp()).isTrue();
    }
    open.add(SocketChannel.open(UnixDomainSocketAddress.of(path())));
    watched.clear();
    linux.fail("accept", LinuxErrno.EMFILE);
    connection.progress(5);
    assertThat(watched).containsExactly("change 0");
    assertThat(connection.due()).isEqualTo(5 + StreamConnection.INTERVAL);
    linux.recover();
    connection.end(6);
    connection.progress(7);
    assertThat(watched).containsExactly("change 0");
    assertThat(connection.isUp()).isFalse();
    connection.progress(5 + StreamConnection.INTERVAL);
    assertThat(watched).containsExactly("change 0", "change 1", "add 1");
    assertThat(connection.isUp()).isTrue();
    assertThat(connection.due()).isEqualTo(Long.MAX_VALUE);
  }

  @ParameterizedTest
  @EnumSource(names = {"EAGAIN", "ECONNABORTED"})
  void listenerWithoutAPeerStaysWatched(LinuxErrno errno) {
    StreamConnection connection = connection("listen:");
    linux.fail("accept", errno);
    connection.progress(5);
    assertThat(watched).containsExactly("add 1");
    assertThat(connection.due()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void attemptThatCannotBeWatchedIsRepeatedAfterTheInterval() throws IOException {
    listen();
    StreamConnection connection = connection("");
    connection.end(0);
    long first = connection.due();
    fullOf = 1;
    long closed = linux.count("close");
    assertThatThrownBy(() -> connection.progress(first)).hasMessage("no room to watch");
    assertThat(linux.count("close")).isEqualTo(closed + 1);
    assertThat(connection.due()).isEqualTo(first + StreamConnection.INTERVAL);
    connection.progress(first + 1);
    assertThat(connection.isUp()).isFalse();
    connection.progress(connection.due());
    assertThat(connection.isUp()).isTrue();
  }

  @Test
  void peerThatCannotBeWatchedIsDisconnected() throws IOException {
    StreamConnection connection = connection("listen:");
    SocketChannel away = peer();
    fullOf = 1;
    connection.progress(0);
    assertThat(connection.isUp()).isFalse();
    assertThat(away.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    peer();
    connection.progress(1);
    assertThat(connection.isUp()).isTrue();
  }

  private SocketChannel peer() throws IOException {
    SocketChannel peer = SocketChannel.open(UnixDomainSocketAddress.of(path()));
    open.add(peer);
    return peer;
  }

  @Test
  void activePeerStaysConnectedAndASilentOneIsReplaced() throws IOException {
    StreamConnection connection = connection("listen:");
    SocketChannel first = peer();
    connection.progress(0);
    connection.heard(5);
    SocketChannel second = peer();
    assertThat(connection.progress(4 + StreamConnection.SILENCE)).isFalse();
    assertThat(second.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    SocketChannel third = peer();
    assertThat(connection.progress(5 + StreamConnection.SILENCE)).isTrue();
    assertThat(connection.due()).as("at once").isEqualTo(5 + StreamConnection.SILENCE);
    connection.end(5 + StreamConnection.SILENCE);
    assertThat(first.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    assertThat(connection.isUp()).isFalse();
    assertThat(connection.progress(6 + StreamConnection.SILENCE)).isFalse();
    assertThat(connection.isUp()).isTrue();
    assertThat(connection.due()).isEqualTo(Long.MAX_VALUE);
    third.configureBlocking(false);
    assertThat(third.read(ByteBuffer.allocate(1))).as("it is the peer now").isZero();
  }

  @Test
  void successorEndsWithTheConnection() throws IOException {
    StreamConnection connection = connection("listen:");
    peer();
    connection.progress(0);
    SocketChannel next = peer();
    assertThat(connection.progress(System.nanoTime() + 2 * StreamConnection.SILENCE)).isTrue();
    connection.close();
    assertThat(next.read(ByteBuffer.allocate(1))).isEqualTo(-1);
  }

  @Test
  void portGoesDownAndUpBetweenTwoPeers() throws IOException {
    StreamLink link =
        new StreamLink(linux.system(), StreamAddress.parse("listen:" + path()), OPTIONS);
    open.add(0, link);
    link.open(watch);
    SocketChannel first = peer();
    receive(link);
    assertThat(link.isUp()).isTrue();
    first.write(frame().limit(10)); // the beginning of a frame that never ends
    receive(link);
    awaitSilence();
    SocketChannel second = peer();
    second.write(frame());
    receive(link);
    assertThat(link.isUp()).as("between them").isFalse();
    long now = System.nanoTime();
    assertThat(link.deadline()).as("of a poller that looks now").isLessThanOrEqualTo(now);
    receive(link);
    assertThat(link.isUp()).isTrue();
    assertThat(batch.count()).isEqualTo(1);
  }

  /** Silence is told by the system's clock alone. */
  private static void awaitSilence() {
    long end = System.nanoTime() + StreamConnection.SILENCE;
    while (System.nanoTime() < end) {
      LockSupport.parkNanos(end - System.nanoTime());
    }
  }

  @Test
  void silentLossOfATcpPeerIsDetected() throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      String place = "127.0.0.1:" + ((InetSocketAddress) server.getLocalAddress()).getPort();
      StreamConnection connection =
          new StreamConnection(linux.system(), StreamAddress.parse(place));
      open.add(0, connection::close);
      // SO_KEEPALIVE of SOL_SOCKET; then of TCP its idle time, interval, probes and user time-out
      assertThat(option(connection.socket(), 1, 9)).isOne();
      assertThat(option(connection.socket(), 6, 4)).isEqualTo(5);
      assertThat(option(connection.socket(), 6, 5)).isEqualTo(1);
      assertThat(option(connection.socket(), 6, 6)).isEqualTo(5);
      assertThat(option(connection.socket(), 6, 18)).isEqualTo(10_000);
      assertThat(option(connection.socket(), 6, 1)).as("TCP_NODELAY").isOne();
    }
  }

  private int option(int socket, int level, int number) {
    MemorySegment value = Arena.ofAuto().allocate(ValueLayout.JAVA_INT);
    assertThat(linux.system().getsockopt(socket, level, number, value)).isEqualTo(4);
    return value.get(ValueLayout.JAVA_INT, 0);
  }

  /** A client that sees the file of the socket can connect: the port does nothing in between. */
  @Test
  void socketListensAtOnceAndIsTheOwnersAlone() throws IOException {
    linux.answer(
        "listen", _ -> linux.isFollowing("bind") && isOwners() ? 0 : -LinuxErrno.EPERM.number());
    new StreamConnection(linux.system(), StreamAddress.parse("listen:" + path())).close();
    assertThat(linux.count("listen")).isOne();
  }

  private boolean isOwners() {
    try {
      return PosixFilePermissions.toString(Files.getPosixFilePermissions(Path.of(path())))
          .equals("rw-------");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void socketThatCannotBeTheOwnersAloneIsRemoved() {
    linux.fail("fchmod", LinuxErrno.EACCES);
    StreamAddress address = StreamAddress.parse("listen:" + path());
    assertThatThrownBy(() -> new StreamConnection(linux.system(), address))
        .isInstanceOf(LinkException.class)
        .hasMessageContaining("stream:listen:" + path() + ": the mode of the socket cannot be set");
    assertThat(Path.of(path())).doesNotExist();
  }

  @Test
  void fileThatCannotBeRemovedIsLogged() throws IOException {
    Logger logger = (Logger) LoggerFactory.getLogger(StreamConnection.class);
    ListAppender<ILoggingEvent> appender = new ListAppender<>();
    appender.start();
    logger.addAppender(appender);
    logger.setLevel(Level.WARN);
    try {
      StreamConnection connection =
          new StreamConnection(linux.system(), StreamAddress.parse("listen:" + path()));
      Files.delete(Path.of(path()));
      Files.createDirectories(Path.of(path(), "child"));
      connection.close();
    } finally {
      logger.detachAppender(appender);
      logger.setLevel(null);
    }
    assertThat(appender.list)
        .singleElement()
        .extracting(ILoggingEvent::getFormattedMessage)
        .asString()
        .startsWith(path() + " is left over and cannot be removed: ");
  }
}
