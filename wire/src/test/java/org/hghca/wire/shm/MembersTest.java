package org.hghca.wire.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.hghca.linux.Linux;
import org.hghca.linux.RuntimeDirectory;
import org.hghca.wire.IpAddress;
import org.hghca.wire.MemoryPieces;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketRun;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Members of a medium in shared memory, here of one process. */
class MembersTest {
  private static final int POLLIN = 1;

  @TempDir private Path directory;

  private End left;
  private End right;

  @BeforeEach
  void join() throws IOException {
    System.setProperty(RuntimeDirectory.PROPERTY, directory.resolve("run").toString());
    left = new End(1);
    right = meet(2, left);
  }

  /** A member that comes while others, on threads of their own, attend to who comes. */
  private static End meet(int number, End... present) throws IOException {
    AtomicBoolean met = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    for (End end : present) {
      threads.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    while (!met.get()) {
                      end.members.attend();
                      Thread.onSpinWait();
                    }
                    end.members.attend();
                  }));
    }
    try {
      return new End(number);
    } finally {
      met.set(true);
      for (Thread thread : threads) {
        join(thread);
      }
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @AfterEach
  void leave() {
    left.close();
    right.close();
    System.clearProperty(RuntimeDirectory.PROPERTY);
  }

  @Test
  void membersMeet() {
    assertThat(left.members.count()).isEqualTo(1);
    assertThat(right.members.count()).isEqualTo(1);
    assertThat(left.members.reaches(0, right.address)).isTrue();
    assertThat(left.members.reaches(0, left.address)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 8, 9, 16, 17, 24, 25, 63, 64, 65, 256, 4095, 4096})
  void packetArrivesAsItWasSent(int length) {
    for (int opcode :
        new int[] {
          0x00, 0x04, 0x05, 0x0a, 0x0b, 0x0c, 0x10, 0x11, 0x12, 0x13, 0x14, 0x17, 0x24, 0x2a, 0x64,
          0x65, 0x81
        }) {
      SplittableRandom random = new SplittableRandom(opcode * 5000L + length);
      Packet sent = left.to(right, opcode, length, opcode);
      setFields(sent, random);
      assertThat(left.members.send(sent)).isTrue();
      left.members.flush();
      right.receive();

      assertThat(right.packets).hasSize(1);
      assertSame(right.packets.removeFirst(), sent);
    }
  }

  private static void setFields(Packet packet, SplittableRandom random) {
    packet.vlan = random.nextBoolean() ? Packet.NO_VLAN : random.nextInt(0x8000);
    packet.trafficClass = random.nextInt(256);
    packet.hopLimit = random.nextInt(256);
    packet.identification = random.nextInt(0x1_0000);
    packet.flowLabel = random.nextInt(0x10_0000);
    packet.udpSourcePort = random.nextInt(0x1_0000);
    packet.solicited = random.nextBoolean();
    packet.ackRequest = random.nextBoolean();
    packet.migrated = random.nextBoolean();
    packet.forwardCongestion = random.nextBoolean();
    packet.backwardCongestion = random.nextBoolean();
    packet.partitionKey = random.nextInt(0x1_0000);
    packet.destinationQpn = random.nextInt(0x100_0000);
    packet.psn = random.nextInt(0x100_0000);
    packet.remoteAddress = random.nextLong();
    packet.remoteKey = random.nextInt();
    packet.dmaLength = random.nextInt();
    packet.swapAdd = random.nextLong();
    packet.compare = random.nextLong();
    packet.original = random.nextLong();
    packet.queueKey = random.nextInt();
    packet.sourceQpn = random.nextInt(0x100_0000);
    packet.syndrome = random.nextInt(256);
    packet.msn = random.nextInt(0x100_0000);
    packet.immediate = random.nextInt();
    packet.invalidateKey = random.nextInt();
  }

  /** All headers that the opcode has, and the payload. */
  private static void assertSame(Packet came, Packet sent) {
    int operation = sent.opcode & PacketOpcode.OPERATION_MASK;
    boolean isDatagram = (sent.opcode & PacketOpcode.SERVICE_MASK) == PacketOpcode.UD;
    assertThat(came.opcode).isEqualTo(sent.opcode);
    assertThat(came.vlan).isEqualTo((short) sent.vlan);
    assertThat(came.trafficClass).isEqualTo(sent.trafficClass);
    assertThat(came.hopLimit).isEqualTo(sent.hopLimit);
    assertThat(came.identification).isEqualTo(sent.identification);
    assertThat(came.flowLabel).isEqualTo(sent.flowLabel);
    assertThat(came.udpSourcePort).isEqualTo(sent.udpSourcePort);
    assertThat(came.solicited).isEqualTo(sent.solicited);
    assertThat(came.ackRequest).isEqualTo(sent.ackRequest);
    assertThat(came.migrated).isEqualTo(sent.migrated);
    assertThat(came.forwardCongestion).isEqualTo(sent.forwardCongestion);
    assertThat(came.backwardCongestion).isEqualTo(sent.backwardCongestion);
    assertThat(came.partitionKey).isEqualTo(sent.partitionKey);
    assertThat(came.destinationQpn).isEqualTo(sent.destinationQpn);
    assertThat(came.psn).isEqualTo(sent.psn);
    assertThat(came.sourceIpLow).isEqualTo(sent.sourceIpLow);
    assertThat(came.destinationIpLow).isEqualTo(sent.destinationIpLow);
    if (isDatagram) {
      assertThat(came.queueKey).isEqualTo(sent.queueKey);
      assertThat(came.sourceQpn).isEqualTo(sent.sourceQpn);
    } else if (PacketOpcode.isResponse(operation)) {
      assertThat(came.syndrome).isEqualTo(sent.syndrome);
      assertThat(came.msn).isEqualTo(sent.msn);
      if (operation == PacketOpcode.ATOMIC_ACKNOWLEDGE) {
        assertThat(came.original).isEqualTo(sent.original);
      }
    } else if (!PacketOpcode.isSend(operation)) {
      assertThat(came.remoteAddress).isEqualTo(sent.remoteAddress);
      assertThat(came.remoteKey).isEqualTo(sent.remoteKey);
      assertThat(came.dmaLength).isEqualTo(sent.dmaLength);
    }
    if (PacketOpcode.isAtomic(operation)) {
      assertThat(came.swapAdd).isEqualTo(sent.swapAdd);
      assertThat(came.compare).isEqualTo(sent.compare);
    }
    if (PacketOpcode.invalidates(operation)) {
      assertThat(came.invalidateKey).isEqualTo(sent.invalidateKey);
    } else if (PacketOpcode.hasImmediate(operation)) {
      assertThat(came.immediate).isEqualTo(sent.immediate);
    }
    assertThat(came.length).isEqualTo(sent.length);
    assertThat(
            came.payload().asSlice(0, came.length).mismatch(sent.payload().asSlice(0, sent.length)))
        .isEqualTo(-1);
  }

  @Test
  void addressThatIsInNoListIsWrittenOut() {
    Packet sent = left.to(right, 0x64, 10, 1);
    sent.destinationIpHigh = 0xff02L << 48;
    sent.destinationIpLow = 0x1234;
    sent.sourceIpHigh = 0xfe80L << 48;
    sent.sourceIpLow = 0x77;
    left.members.send(sent);
    left.members.flush();
    right.receive();

    Packet came = right.packets.getFirst();
    assertThat(came.destinationIpHigh).isEqualTo(0xff02L << 48);
    assertThat(came.destinationIpLow).isEqualTo(0x1234);
    assertThat(came.sourceIpHigh).isEqualTo(0xfe80L << 48);
    assertThat(came.sourceIpLow).isEqualTo(0x77);
    assertThat(came.destinationMac).isEqualTo(IpAddress.groupMac(0xff02L << 48, 0x1234));
  }

  @Test
  void frameArrivesWithItsBytes() {
    Packet sent = left.to(right, 0, Packet.MAX_FRAME, 5);
    sent.plain = true;
    sent.destinationMac = 2;
    sent.sourceMac = 0x0200_0000_0009L;
    left.members.send(sent);
    sent.destinationMac = 3; // nobody's
    assertThat(left.members.send(sent)).isFalse();
    left.members.flush();
    right.receive();

    assertThat(right.packets).hasSize(1);
    Packet came = right.packets.getFirst();
    assertThat(came.plain).isTrue();
    assertThat(came.destinationMac).isEqualTo(2);
    assertThat(came.sourceMac).isEqualTo(0x0200_0000_0009L);
    assertThat(
            came.payload().asSlice(0, came.length).mismatch(sent.payload().asSlice(0, sent.length)))
        .isEqualTo(-1);
  }

  private PacketRun run(int first, int last, int mtu, int bytes, MemorySegment memory) {
    PacketRun run = new PacketRun();
    run.clear();
    run.first.opcode = first;
    run.first.sourceIpLow = left.address;
    run.first.destinationIpLow = right.address;
    run.first.psn = 0xff_fffe;
    run.first.solicited = true;
    run.first.ackRequest = true;
    run.lastOperation = last;
    run.mtu = mtu;
    run.bytes = bytes;
    run.packets = (bytes + mtu - 1) / mtu;
    int half = bytes / 2;
    run.payload.add(memory.asSlice(0, half), 0, half, MemoryPieces.Kind.STAYS);
    run.payload.add(memory.asSlice(half, bytes - half), 0, bytes - half, MemoryPieces.Kind.MAY_END);
    return run;
  }

  @Test
  void runArrivesAsOne() {
    MemorySegment memory = Arena.ofAuto().allocate(100_000);
    End.fill(memory, 100_000, 9);
    assertThat(left.members.longestRun(0, right.address)).isPositive();
    assertThat(left.members.send(run(0x06, 0x08, 1024, 100_000, memory))).isTrue();
    right.receive();

    assertThat(right.runs).hasSize(1);
    assertThat(right.runs.getFirst()).isEqualTo(memory.toArray(ValueLayout.JAVA_BYTE));
  }

  @Test
  void runThatIsRefusedComesAsItsPackets() {
    MemorySegment memory = Arena.ofAuto().allocate(10_000);
    End.fill(memory, 10_000, 3);
    right.answer = PacketRun.Outcome.REFUSED;
    left.members.send(run(0x00, 0x02, 4096, 10_000, memory));
    right.receive();

    assertThat(right.packets).extracting(packet -> packet.opcode).containsExactly(0x00, 0x01, 0x02);
    assertThat(right.packets)
        .extracting(packet -> packet.psn)
        .containsExactly(0xff_fffe, 0xff_ffff, 0);
    assertThat(right.packets).extracting(packet -> packet.length).containsExactly(4096, 4096, 1808);
    assertThat(right.packets)
        .extracting(packet -> packet.ackRequest)
        .containsExactly(false, false, true);
    assertThat(right.packets)
        .extracting(packet -> packet.solicited)
        .containsExactly(false, false, true);
    int at = 0;
    for (Packet packet : right.packets) {
      assertThat(
              packet
                  .payload()
                  .asSlice(0, packet.length)
                  .mismatch(memory.asSlice(at, packet.length)))
          .isEqualTo(-1);
      at += packet.length;
    }
  }

  @Test
  void runThatCannotBeTakenYetComesAgain() {
    MemorySegment memory = Arena.ofAuto().allocate(10_000);
    right.answer = PacketRun.Outcome.LATER;
    left.members.send(run(0x0d, 0x0f, 4096, 10_000, memory));
    assertThat(right.receive()).isTrue();
    assertThat(right.runs).isEmpty();

    right.answer = PacketRun.Outcome.TAKEN;
    assertThat(right.receive()).isFalse();
    assertThat(right.runs).hasSize(1);
  }

  /** Many times around the ring, which grows meanwhile; nothing is lost and nothing changes. */
  @Test
  void streamIsWhole() {
    SplittableRandom random = new SplittableRandom(7);
    int sent = 0;
    int seen = 0;
    for (int i = 0; i < 20_000; i++) {
      Packet packet = left.to(right, 0x04, random.nextInt(4097), sent);
      packet.psn = sent & 0xff_ffff;
      if (left.members.send(packet)) {
        sent++;
      } else {
        assertThat(left.members.hasRoom()).isFalse();
        seen = readAll(seen);
      }
      left.members.flush();
      if (random.nextInt(40) == 0) {
        seen = readAll(seen);
      }
    }
    seen = readAll(seen);
    assertThat(seen).isEqualTo(sent).isGreaterThan(19_000);
  }

  private int readAll(int from) {
    int number = from;
    while (right.receive()) {
      // until nothing is left
    }
    for (Packet packet : right.packets) {
      assertThat(packet.psn).isEqualTo(number & 0xff_ffff);
      MemorySegment expected = Arena.ofAuto().allocate(4096);
      End.fill(expected, packet.length, number);
      assertThat(
              packet
                  .payload()
                  .asSlice(0, packet.length)
                  .mismatch(expected.asSlice(0, packet.length)))
          .isEqualTo(-1);
      number++;
    }
    right.packets.clear();
    return number;
  }

  /** Whoever polls does not wait until what it has sent is seen; the flush that follows does. */
  @Test
  void sleeperIsWokenByWhoSendsMoreSoon() {
    left.members.send(left.to(right, 0x64, 10, 1));
    assertThat(left.members.needsFlush()).isFalse();
    left.members.flushSoon();
    right.receive();
    assertThat(right.packets).hasSize(1);
    assertThat(left.members.needsFlush()).isTrue();
    assertThat(isReadable(right.members.event())).isFalse();

    // It has gone to sleep just then, and has not seen the packet: nobody has woken it.
    assertThat(right.members.sleep()).isTrue();
    left.members.flushSoon();
    assertThat(left.members.needsFlush()).isFalse();
    assertThat(isReadable(right.members.event())).isTrue();
    right.members.wakeUp();

    assertThat(right.members.sleep()).isTrue();
    left.members.send(left.to(right, 0x64, 10, 1));
    left.members.flushSoon();
    assertThat(isReadable(right.members.event())).as("one that is known to sleep").isTrue();
  }

  /** Whoever looks once and then sleeps on has nobody who flushes for it. */
  @Test
  void whoSleepsItselfOwesNoFlush() {
    assertThat(left.members.sleep()).isTrue();
    left.members.send(left.to(right, 0x64, 10, 1));
    left.members.flushSoon();
    assertThat(left.members.needsFlush()).isFalse();

    left.members.wakeUp();
    left.members.send(left.to(right, 0x64, 10, 1));
    left.members.flushSoon();
    assertThat(left.members.needsFlush()).isTrue();
  }

  @Test
  void whoGoesToSleepHasWokenWhomItSentSomething() {
    left.members.send(left.to(right, 0x64, 10, 1));
    left.members.flushSoon();
    right.receive();
    assertThat(right.members.sleep()).isTrue();
    assertThat(left.members.sleep()).isTrue();
    assertThat(isReadable(right.members.event())).isTrue();
  }

  @Test
  void sleeperIsWokenOnce() {
    assertThat(right.members.sleep()).isTrue();
    for (int i = 0; i < 3; i++) {
      left.members.send(left.to(right, 0x04, 8, i));
      left.members.flush();
    }
    assertThat(isReadable(right.members.event())).isTrue();
    right.members.wakeUp();
    assertThat(isReadable(right.members.event())).as("written to once").isFalse();
    right.receive();
    assertThat(right.packets).hasSize(3);

    left.members.send(left.to(right, 0x04, 8, 4));
    left.members.flush();
    assertThat(isReadable(right.members.event())).as("awake").isFalse();
    assertThat(right.members.sleep()).as("may sleep").isFalse();
  }

  @Test
  void senderThatWaitsForRoomIsWoken() {
    while (left.members.hasRoom()) {
      left.members.send(left.to(right, 0x04, 4096, 1));
    }
    left.members.flush();
    assertThat(left.members.sleep()).isTrue();
    while (right.receive()) {
      // until nothing is left
    }
    assertThat(isReadable(left.members.event())).isTrue();
    left.members.wakeUp();
    assertThat(left.members.hasRoom()).isTrue();
  }

  @Test
  void readerThatStandsStillIsNotWaitedForForEver() {
    while (left.members.hasRoom()) {
      left.members.send(left.to(right, 0x04, 4096, 1));
    }
    long begin = System.nanoTime();
    while (!left.members.hasRoom()) {
      Thread.onSpinWait();
    }
    assertThat(System.nanoTime() - begin).isGreaterThan(90_000_000);
  }

  private static boolean isReadable(int descriptor) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment poll = arena.allocate(8, 4);
      poll.set(ValueLayout.JAVA_INT, 0, descriptor);
      poll.set(ValueLayout.JAVA_SHORT, 4, (short) POLLIN);
      return Linux.system().poll(poll, 0) == 1;
    }
  }

  @Test
  void memberThatLeavesIsForgotten() throws IOException {
    left.members.send(left.to(right, 0x04, 8, 1));
    left.members.flush();
    right.receive();
    right.close();

    left.members.attend();
    assertThat(left.members.count()).isZero();
    assertThat(left.members.send(left.to(right, 0x04, 8, 1))).isFalse();
    right = new End(2);
  }

  @Test
  void socketOfADeadMemberIsRemoved() throws IOException {
    Path sockets = directory.resolve("run/shm/test");
    Path dead = sockets.resolve("1-1.sock");
    try (ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.bind(UnixDomainSocketAddress.of(dead));
    }
    assertThat(dead).exists();
    try (End third = meet(3, left, right)) {
      assertThat(third.members.count()).isEqualTo(2);
    }
    assertThat(dead).doesNotExist();
  }

  @Test
  void addressIsRefusedTwice() {
    assertThatThrownBy(() -> meet(1, left, right))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("has the same address")
        .hasMessageContaining("ip=");
  }

  @Test
  void nothingStaysInTheDirectory() throws IOException {
    left.close();
    right.close();
    try (Stream<Path> files = Files.list(directory.resolve("run/shm/test"))) {
      assertThat(files.map(file -> file.getFileName().toString())).containsExactly("lock");
    }
    left = new End(1);
    right = meet(2, left);
  }
}
