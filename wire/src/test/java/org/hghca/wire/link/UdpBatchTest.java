package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.hghca.linux.Linux;
import org.hghca.linux.LinuxErrno;
import org.hghca.wire.DropCause;
import org.hghca.wire.IpAddress;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PortAddresses;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What UDP links hand to the kernel and get from it at once. The tests read the links themselves:
 * no poller does.
 */
final class UdpBatchTest {
  private static final int LEFT = 0x7f00_0067;
  private static final int RIGHT = 0x7f00_0068;
  private static final int GROUP = 0xef01_0300;

  /** Of {@code struct mmsghdr}. */
  private static final int MESSAGE = 64;

  private final List<Link> links = new ArrayList<>();
  private final FaultyLinux linux = new FaultyLinux();
  private final PacketPool pool = new PacketPool();
  private final ReceiveBatch batch = new ReceiveBatch();

  /** The datagrams of each message that was handed to the kernel. */
  private final List<Integer> messages = new ArrayList<>();

  /** Nobody waits. */
  private static final class NoWatch implements LinkWatch {
    @Override
    public void add(int descriptor, int events) {}

    @Override
    public void change(int descriptor, int events) {}

    @Override
    public void remove(int descriptor) {}

    @Override
    public void pollSoon() {}
  }

  private UdpLink open(String address) {
    LinkOptions options = new LinkOptions(0, PortAddresses.NONE, OptionalInt.empty(), 4, false);
    UdpLink link = new UdpLink(linux.system(), LocalAddress.parse(address), options);
    link.open(new NoWatch());
    links.add(link);
    return link;
  }

  @AfterEach
  void close() {
    links.forEach(Link::close);
  }

  private void send(Link from, int to, int psn, int length) {
    Packet packet = pool.take();
    packet.destinationIpv4(to);
    if (from.addresses().low(0) == 1) { // ::1
      packet.destinationIpHigh = 0;
      packet.destinationIpLow = 1;
    }
    packet.udpSourcePort = 0xc123;
    packet.opcode = PacketOpcode.SEND_ONLY;
    packet.psn = psn;
    packet.length = length;
    from.send(packet);
    pool.giveBack(packet);
  }

  private void send(Link from, int to, int first, int last, int length) {
    for (int psn = first; psn <= last; psn++) {
      send(from, to, psn, length);
    }
    from.flush();
  }

  /** The packets that have come. */
  private List<Packet> receive(Link at) {
    List<Packet> came = new ArrayList<>();
    int before;
    do {
      before = came.size();
      batch.clear();
      at.receive(batch);
      do {
        for (int i = 0; i < batch.count(); i++) {
          came.add(batch.exchange(i, pool.take()));
        }
      } while (batch.refill());
    } while (came.size() > before);
    return came;
  }

  private static void assertPsns(List<Packet> came, int last) {
    assertThat(came).extracting(packet -> packet.psn).isEqualTo(numbers(last));
  }

  private static List<Integer> numbers(int last) {
    return IntStream.rangeClosed(0, last).boxed().toList();
  }

  /**
   * Messages are handed to the kernel one by one.
   *
   * @param answer to one with so many datagrams: 0 for that of the system
   */
  private void answer(IntUnaryOperator answer) {
    linux.answer(
        "sendmmsg",
        arguments -> {
          MemorySegment message = (MemorySegment) arguments[1];
          int datagrams = (int) message.get(ValueLayout.JAVA_LONG, 0x18);
          messages.add(datagrams);
          int answered = answer.applyAsInt(datagrams);
          return answered != 0
              ? answered
              : Linux.system().sendmmsg((int) arguments[0], message, 1, (int) arguments[3]);
        });
  }

  /** Another set of datagrams is always there, and none is a packet. */
  private void receiveJunk() {
    linux.answer(
        "recvmmsg",
        arguments -> {
          if (linux.count("recvmmsg") > 1000) {
            return -LinuxErrno.EAGAIN.number(); // so that a link without a limit fails the test
          }
          MemorySegment into = (MemorySegment) arguments[1];
          for (int i = 0; i < ReceivedDatagrams.SLOTS; i++) {
            into.set(ValueLayout.JAVA_INT, (long) i * MESSAGE + 0x38, 11);
          }
          return ReceivedDatagrams.SLOTS;
        });
  }

  @Test
  void datagramsWithoutPacketsDoNotKeepTheReader() {
    UdpLink link = open("127.0.0.103");
    for (int i = 0; i < 6; i++) {
      assertThat(link.join(0, IpAddress.lowOfIpv4(GROUP + i))).isTrue();
    }
    receiveJunk();
    link.receive(batch);
    assertThat(batch.count()).isZero();
    assertThat(linux.count("recvmmsg")).isEqualTo(4 + 4); // own address, groups
    assertThat(link.counters().dropped().values()).containsExactly(8 * 16L);
  }

  @Test
  void groupBehindABusyOneIsReadNext() {
    UdpLink link = open("127.0.0.103");
    List<Object> sockets = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      link.join(0, IpAddress.lowOfIpv4(GROUP + i));
    }
    linux.answer(
        "recvmmsg",
        arguments -> {
          sockets.add(arguments[0]);
          return ReceivedDatagrams.SLOTS;
        });
    link.receive(batch);
    link.receive(batch);
    assertThat(sockets).hasSize(16);
    assertThat(sockets.stream().distinct()).hasSize(3);
  }

  @Test
  void joiningAndLeavingWaitForNoRead() {
    UdpLink link = open("127.0.0.103");
    link.join(0, IpAddress.lowOfIpv4(GROUP));
    List<Boolean> returned = new ArrayList<>();
    long before = linux.count("close");
    linux.answer(
        "recvmmsg",
        arguments -> {
          returned.add(
              returnsElsewhere(
                  () -> {
                    link.leave(0, IpAddress.lowOfIpv4(GROUP));
                    link.join(0, IpAddress.lowOfIpv4(GROUP + 1));
                  }));
          assertThat(linux.count("close")).as("a socket amid a read").isEqualTo(before);
          linux.recover();
          return -LinuxErrno.EAGAIN.number();
        });
    link.receive(batch); // begins with the groups
    assertThat(returned).containsExactly(true);
    assertThat(linux.count("close")).isEqualTo(before + 1);
    send(link, GROUP, 0, 0, 8);
    send(link, GROUP + 1, 1, 1, 8);
    assertThat(receive(link)).extracting(packet -> packet.psn).containsExactly(1);
  }

  private static boolean returnsElsewhere(Runnable action) {
    Thread thread = Thread.ofPlatform().daemon().start(action);
    try {
      return thread.join(Duration.ofSeconds(10));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void batchHas64PacketsWhateverASenderJoins() {
    UdpLink left = open("127.0.0.103");
    UdpLink right = open("127.0.0.104");
    send(left, RIGHT, 0, 191, 16);
    List<Integer> psns = new ArrayList<>();
    List<Integer> sizes = new ArrayList<>();
    right.receive(batch);
    do {
      sizes.add(batch.count());
      for (int i = 0; i < batch.count(); i++) {
        psns.add(batch.exchange(i, pool.take()).psn);
      }
    } while (batch.refill() || isMore(right));
    assertThat(sizes).containsExactly(64, 64, 64);
    assertThat(psns).isEqualTo(numbers(191));
    assertThat(right.counters()).isEqualTo(new LinkCounters(0, 192, Map.of(), Map.of()));
  }

  private boolean isMore(Link link) {
    batch.clear();
    link.receive(batch);
    return batch.count() > 0;
  }

  /** The third of four datagrams in one message is damaged, the last is shorter. */
  @Test
  void damagedSegmentIsDroppedAlone() {
    UdpLink left = open("127.0.0.103");
    UdpLink right = open("127.0.0.104");
    linux.answer(
        "sendmmsg",
        arguments -> {
          MemorySegment message = (MemorySegment) arguments[1];
          messages.add((int) message.get(ValueLayout.JAVA_LONG, 0x18));
          damage(message.get(ValueLayout.JAVA_LONG, 0x10), 2);
          return Linux.system().sendmmsg((int) arguments[0], message, 1, (int) arguments[3]);
        });
    for (int psn = 0; psn < 4; psn++) {
      send(left, RIGHT, psn, psn < 3 ? 256 : 16);
    }
    left.flush();
    assertThat(messages).containsExactly(4);
    List<Packet> came = receive(right);
    assertThat(came).extracting(packet -> packet.psn).containsExactly(0, 1, 3);
    assertThat(came).extracting(packet -> packet.length).containsExactly(256, 256, 16);
    assertThat(right.counters())
        .isEqualTo(new LinkCounters(0, 3, Map.of(), Map.of(DropCause.ICRC, 1L)));
  }

  /** Inverts a byte of payload of a datagram, given the address of a message's vectors. */
  @SuppressWarnings("restricted")
  private static void damage(long vectors, int index) {
    MemorySegment all = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    long datagram = all.get(ValueLayout.JAVA_LONG, vectors + 16L * index);
    all.set(
        ValueLayout.JAVA_BYTE,
        datagram + 20,
        (byte) ~all.get(ValueLayout.JAVA_BYTE, datagram + 20));
  }

  /** Single datagrams have the identification 0, which the invariant CRC covers. */
  @ParameterizedTest
  @CsvSource({"127.0.0.103, EPERM", "127.0.0.103, ENOMEM", "::1, EPERM"})
  void datagramsOfARefusedMessageAreSentOneByOne(String address, LinuxErrno errno) {
    UdpLink link = open(address);
    answer(datagrams -> datagrams > 1 ? -errno.number() : 0);
    send(link, LEFT, 0, 2, 256);
    send(link, LEFT, 3, 5, 256);
    // What refuses now may not do so the next time.
    assertThat(messages).containsExactly(3, 1, 1, 1, 3, 1, 1, 1);
    List<Packet> came = receive(link);
    assertPsns(came, 5);
    assertThat(came).extracting(packet -> packet.identification).containsOnly(0);
    assertThat(link.counters()).isEqualTo(new LinkCounters(6, 6, Map.of(), Map.of()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"EINVAL", "EIO", "EMSGSIZE"})
  void afterAWayWithoutSegmentsThereAreOnlySingleDatagrams(LinuxErrno errno) {
    UdpLink link = open("127.0.0.103");
    answer(datagrams -> datagrams > 1 ? -errno.number() : 0);
    send(link, LEFT, 0, 2, 256);
    send(link, LEFT, 3, 5, 256);
    assertThat(messages).containsExactly(3, 1, 1, 1, 1, 1, 1);
    assertPsns(receive(link), 5);
  }

  @Test
  void segmentsStayWhereSingleDatagramsAreRefusedToo() {
    UdpLink link = open("127.0.0.103");
    answer(datagrams -> -LinuxErrno.EINVAL.number());
    send(link, LEFT, 9, 10, 8);
    assertThat(link.counters())
        .isEqualTo(new LinkCounters(0, 0, Map.of(SendFailure.REFUSED, 2L), Map.of()));
    answer(datagrams -> 0);
    send(link, LEFT, 0, 1, 8);
    assertThat(messages).containsExactly(2, 1, 1, 2);
    assertPsns(receive(link), 1);
  }

  /** Room ends amid the datagrams of a refused message; more are sent before there is some. */
  @Test
  void refusedMessageWaitsForRoom() {
    UdpLink link = open("127.0.0.103");
    answer(
        datagrams ->
            datagrams == 3
                ? -LinuxErrno.EPERM.number()
                : messages.size() == 3 ? -LinuxErrno.EAGAIN.number() : 0);
    send(link, LEFT, 0, 2, 256);
    assertThat(link.hasRoom()).isFalse();
    send(link, LEFT, 3, 4, 256);
    assertThat(link.hasRoom()).isTrue();
    assertThat(messages).containsExactly(3, 1, 1, 1, 1, 2);
    assertPsns(receive(link), 4);
    assertThat(link.counters()).isEqualTo(new LinkCounters(5, 5, Map.of(), Map.of()));
  }

  /** The kernel takes one message of three, has no room for the second, and later takes all. */
  @Test
  void messagesThatFindNoRoomAreSentLater() {
    UdpLink link = open("127.0.0.103");
    answer(datagrams -> messages.size() == 2 ? -LinuxErrno.EAGAIN.number() : 0);
    int[] lengths = {64, 64, 64, 256, 256, 512};
    for (int psn = 0; psn < lengths.length; psn++) {
      send(link, LEFT, psn, lengths[psn]);
    }
    link.flush();
    assertThat(link.hasRoom()).isFalse();
    assertThat(link.counters().sent()).isEqualTo(3);
    send(link, LEFT, 6, 6, 512); // one more of the newest message
    assertThat(messages).containsExactly(3, 2, 2, 2);
    assertPsns(receive(link), 6);
    assertThat(link.counters()).isEqualTo(new LinkCounters(7, 7, Map.of(), Map.of()));
  }
}
