package org.hghca.wire.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.hghca.linux.Linux;
import org.hghca.linux.RuntimeDirectory;
import org.hghca.linux.SealedFile;
import org.hghca.linux.SystemCalls;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.shm.Greeting.Ring;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A member that breaks every rule: the other one leaves it alone, and goes on. */
class HostileMemberTest {
  private static final int UNSEALED = 0x1;
  private static final SystemCalls LINUX = Linux.system();

  @TempDir private Path directory;

  private End victim;

  /** Somebody who speaks the protocol by hand. */
  private final class Hostile implements AutoCloseable {
    final Arena arena = Arena.ofShared();
    final MemberSocket socket;
    MemorySegment page;
    MemorySegment ring;

    Hostile() throws IOException {
      int connection =
          LINUX.socket(
              MemberSocket.UNIX, MemberSocket.SEQPACKET | MemberSocket.NONBLOCK_CLOSE_ON_EXEC, 0);
      byte[] path;
      try (Stream<Path> files = Files.list(directory.resolve("run/shm/test"))) {
        path =
            files
                .map(Path::toString)
                .filter(file -> file.endsWith(".sock"))
                .findFirst()
                .orElseThrow()
                .getBytes(StandardCharsets.UTF_8);
      }
      MemorySegment name = Arena.ofAuto().allocate(3L + path.length, 8);
      name.set(ValueLayout.JAVA_SHORT, 0, (short) 1);
      MemorySegment.copy(path, 0, name, ValueLayout.JAVA_BYTE, 2, path.length);
      assertThat(LINUX.connect(connection, name)).isZero();
      socket = new MemberSocket(LINUX, connection);
      victim.members.attend();
    }

    /** A file as a member makes it, or one without seals. */
    int file(long bytes, boolean sealed) {
      if (sealed) {
        return SealedFile.create(LINUX, "hostile", bytes);
      }
      int file = LINUX.memfdCreate("hostile", UNSEALED | 0x2);
      LINUX.ftruncate(file, bytes);
      return file;
    }

    void hello(int pageFile) {
      int event = LINUX.eventfd(0, 0x800);
      PortAddresses addresses = PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(0x0a00_0063));
      socket.send(new Greeting(99, addresses).write(), event, pageFile);
      page = SealedFile.map(LINUX, pageFile, PairPage.BYTES, true, arena);
      LINUX.close(event);
      LINUX.close(pageFile);
    }

    /** Does all that a good member does, up to a ring. */
    void meet() {
      int file = file(PairPage.BYTES, true);
      MemorySegment own = SealedFile.map(LINUX, file, PairPage.BYTES, true, arena);
      new PairPage(own).begin();
      hello(file);
      victim.receive();
      assertThat(victim.members.count()).isEqualTo(1);
    }

    void ring(int bytes, int announced, long position, boolean sealed) {
      int file = file(bytes, sealed);
      ring = SealedFile.map(LINUX, file, bytes, true, arena);
      socket.send(Greeting.write(new Ring(announced, position)), file);
      LINUX.close(file);
    }

    void head(long position) {
      new PairPage(page).head(position);
    }

    @Override
    public void close() {
      socket.close();
      arena.close();
    }
  }

  @BeforeEach
  void join() throws IOException {
    System.setProperty(RuntimeDirectory.PROPERTY, directory.resolve("run").toString());
    victim = new End(1);
  }

  @AfterEach
  void leave() {
    victim.close();
    System.clearProperty(RuntimeDirectory.PROPERTY);
  }

  private void assertLeftAlone() {
    victim.receive();
    victim.receive();
    assertThat(victim.members.count()).isZero();
    assertThat(victim.packets).isEmpty();
    assertThat(victim.runs).isEmpty();
  }

  @Test
  void goodOneIsHeard() throws IOException {
    try (Hostile good = new Hostile()) {
      good.meet();
      good.ring(Member.SMALLEST_RING, Member.SMALLEST_RING, 0, true);
      good.ring.set(ValueLayout.JAVA_LONG, 0, 64L);
      good.ring.set(ValueLayout.JAVA_LONG, 8, (long) RecordHeader.PACKET);
      good.head(64);
      victim.receive();
      assertThat(victim.packets).hasSize(1);
      assertThat(victim.members.count()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @CsvSource({"4096,false", "8192,true", "0,true"})
  void pageThatMayVanishIsNotMapped(long bytes, boolean sealed) throws IOException {
    try (Hostile hostile = new Hostile()) {
      int file = bytes == 0 ? LINUX.eventfd(0, 0x800) : hostile.file(bytes, sealed);
      hostile.hello(file);
      assertLeftAlone();
    }
  }

  @Test
  void pageOfAnotherLayoutIsRefused() throws IOException {
    try (Hostile hostile = new Hostile()) {
      hostile.hello(hostile.file(PairPage.BYTES, true));
      assertLeftAlone();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "65536,65536,0,false", // no seals
    "65536,131072,0,true", // shorter than it says
    "131072,65536,0,true", // longer
    "65536,65536,64,true", // begins elsewhere
    "69632,69632,0,true", // no power of two
    "4096,4096,0,true", // too short
  })
  void ringThatIsNotAsItSaysIsNotMapped(int bytes, int announced, long position, boolean sealed)
      throws IOException {
    try (Hostile hostile = new Hostile()) {
      hostile.meet();
      hostile.ring(bytes, announced, position, sealed);
      assertLeftAlone();
    }
  }

  @Test
  void ringThatIsSealedCannotBeCutOff() throws IOException {
    try (Hostile hostile = new Hostile()) {
      int file = hostile.file(Member.SMALLEST_RING, true);
      assertThat(LINUX.ftruncate(file, 0)).isNegative();
      assertThat(LINUX.ftruncate(file, 1 << 20)).isNegative();
      LINUX.close(file);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "64,0,1", // a record of no bytes
    "64,128,1", // longer than what was written
    "64,63,1", // of no whole unit
    "64,64,9", // of no kind
    "128,128,4294967297", // flags may be anything, this is a packet for QPN 1
    "-64,64,1", // a head behind the tail
    "65,64,1", // a head between records
  })
  void recordThatCannotBeEndsTheConnection(long head, long first, long second) throws IOException {
    try (Hostile hostile = new Hostile()) {
      hostile.meet();
      hostile.ring(Member.SMALLEST_RING, Member.SMALLEST_RING, 0, true);
      hostile.ring.set(ValueLayout.JAVA_LONG, 0, first);
      hostile.ring.set(ValueLayout.JAVA_LONG, 8, second);
      hostile.head(head);
      if (second > 9) {
        victim.receive();
        assertThat(victim.packets).hasSize(1);
        return;
      }
      assertLeftAlone();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1,4097,8192", // payload longer than a packet
    "1,-1,64", // negative
    "1,65,128", // longer than its record
    "2,0,64", // a run without packets
    "3,4207,8192", // a frame that is too long
  })
  void payloadThatCannotBeEndsTheConnection(long kind, int payload, int record) throws IOException {
    try (Hostile hostile = new Hostile()) {
      hostile.meet();
      hostile.ring(Member.SMALLEST_RING, Member.SMALLEST_RING, 0, true);
      hostile.ring.set(ValueLayout.JAVA_LONG, 0, record | (long) payload << 32);
      hostile.ring.set(ValueLayout.JAVA_LONG, 8, kind);
      hostile.head(record);
      assertLeftAlone();
    }
  }

  @Test
  void messagesThatAreNoneEndTheConnection() throws IOException {
    SplittableRandom random = new SplittableRandom(3);
    for (int i = 0; i < 1000; i++) {
      try (Hostile hostile = new Hostile()) {
        if (i % 2 == 0) {
          hostile.meet();
        }
        byte[] bytes = new byte[1 + random.nextInt(200)];
        random.nextBytes(bytes);
        int[] files = new int[random.nextInt(4)];
        for (int f = 0; f < files.length; f++) {
          files[f] = LINUX.eventfd(0, 0x800);
        }
        hostile.socket.send(ByteBuffer.wrap(bytes), files);
        for (int file : files) {
          LINUX.close(file);
        }
        assertLeftAlone();
      }
    }
    assertThat(descriptors()).isLessThan(200);
  }

  private static long descriptors() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.count();
    }
  }

  /** A million records with bent words, of which good ones come through and none does harm. */
  @Test
  void bentRecordsDoNoHarm() throws IOException {
    SplittableRandom random = new SplittableRandom(11);
    int inputs = 0;
    while (inputs < 1_000_000) {
      try (Hostile hostile = new Hostile()) {
        hostile.meet();
        hostile.ring(Member.SMALLEST_RING, Member.SMALLEST_RING, 0, true);
        long head = 0;
        while (victim.members.count() > 0 && inputs < 1_000_000) {
          int record = 64 * (3 + random.nextInt(8));
          long at = head & Member.SMALLEST_RING - 1;
          for (int word = 0; word < 16; word++) {
            hostile.ring.set(
                ValueLayout.JAVA_LONG, (at + 8L * word) % Member.SMALLEST_RING, random.nextLong());
          }
          int kind = 1 + random.nextInt(3);
          boolean bent = random.nextInt(2000) == 0;
          int payload = 1 + random.nextInt(record - RecordHeader.LONG);
          long first = record | (long) payload << 32;
          if (kind == RecordHeader.RUN && random.nextInt(500) > 0) {
            long mtu = payload;
            hostile.ring.set(ValueLayout.JAVA_LONG, at + 0x20, 1 | mtu << 16);
          }
          hostile.ring.set(ValueLayout.JAVA_LONG, at, bent ? random.nextLong() : first);
          long second = random.nextLong() & 0xffff_ffff_dfff_ff00L | kind;
          hostile.ring.set(ValueLayout.JAVA_LONG, at + 8, second);
          bendLine(hostile.page, head, random);
          head += random.nextInt(5000) == 0 ? random.nextInt() : record;
          hostile.head(head);
          victim.members.receive(victim);
          victim.packets.clear();
          victim.runs.clear();
          inputs++;
        }
        victim.members.attend();
      }
      victim.members.attend();
    }
    assertThat(victim.members.count()).isZero();
    assertThat(descriptors()).isLessThan(200);
  }

  /** Some line becomes one that may be the next, or nearly. */
  private static void bendLine(MemorySegment page, long head, SplittableRandom random) {
    long number = random.nextInt(3) == 0 ? random.nextLong() : random.nextInt(2 * Lines.COUNT);
    long at = Lines.at(number & Long.MAX_VALUE);
    long position = head / RecordHeader.UNIT & 0xffff_ffffL;
    page.set(ValueLayout.JAVA_LONG, at + 8, random.nextLong() & 0xffff_ffff_dfff_1f00L | 1);
    page.set(
        ValueLayout.JAVA_LONG, at + 0x20, random.nextLong() & 0xffff_ffff_0000_0000L | position);
    page.set(ValueLayout.JAVA_LONG, at, number + 1 << 8 | random.nextInt(20));
  }
}
