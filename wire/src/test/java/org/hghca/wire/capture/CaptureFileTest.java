package org.hghca.wire.capture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PortTap;
import org.hghca.wire.frame.FrameDecoder;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class CaptureFileTest {
  private static final long MAC = 0x0200_0000_0001L;

  @TempDir Path folder;

  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private long now = 0x1_0000_0002L;

  private CaptureFile capture(WritableByteChannel channel, int capacity) throws IOException {
    return capture(channel, capacity, CaptureFile.WITHOUT_END);
  }

  private CaptureFile capture(WritableByteChannel channel, int capacity, long patience)
      throws IOException {
    return new CaptureFile(
        "test", channel, PcapngBlocks.head("a", MAC), () -> now, capacity, patience);
  }

  @Test
  void plainFramesAreCapturedAsTheyAre() throws IOException {
    String frame =
        "ffffffffffff020000000001080600010800060400010200000000010a0000010000000000000a000002";
    Packet packet = new PacketPool().take();
    packet.plain = true;
    packet.length = frame.length() / 2;
    packet
        .payload()
        .asSlice(0, packet.length)
        .copyFrom(MemorySegment.ofArray(HexFormat.of().parseHex(frame)));
    try (CaptureFile capture = capture(Channels.newChannel(written), 1 << 13)) {
      capture.sent(packet);
      packet.damaged = true;
      capture.received(packet);
    }
    String file = HexFormat.of().formatHex(written.toByteArray());
    assertThat(file).contains("2a0000002a000000" + frame);
    assertThat(file).contains(frame.substring(0, frame.length() - 2) + "fd");
  }

  @Test
  void bytesAreThoseOfTheFormat() throws IOException {
    try (CaptureFile capture = capture(Channels.newChannel(written), 1 << 13)) {
      now++;
      capture.sent(Captures.acknowledge(0x77));
      now++;
    }
    String frame =
        "020000000002 020000000001 0800"
            + "45000030 00004000 4011 26bb 0a000001 0a000002"
            + "c000 12b7 001c 0000"
            + "1140ffff 00000012 00000077 1f000003";
    String expected =
        // section header: byte order, version, any length, the program
        "0a0d0d0a 2c000000 4d3c2b1a 0100 0000 ffffffffffffffff"
            + "0400 0500 6867686361 000000 00000000 2c000000"
            // interface: Ethernet, no limit, name, MAC, nanoseconds
            + "01000000 34000000 0100 0000 00000000"
            + "0200 0100 61 000000 0600 0600 020000000001 0000 0900 0100 09 000000"
            + "00000000 34000000"
            // packet: interface, time, captured length, length
            + "06000000 6c000000 00000000 01000000 03000000 3e000000 3e000000"
            + frame;
    byte[] bytes = written.toByteArray();
    byte[] head = HexFormat.of().parseHex(expected.replace(" ", ""));
    assertThat(bytes).startsWith(head);
    int crc = head.length;
    // the invariant CRC, padding, flags: outbound, and the statistics: time, start, end, counts
    String tail =
        "0000 0200 0400 02000000 00000000 6c000000"
            + "05000000 4c000000 00000000 01000000 04000000"
            + "0200 0800 01000000 02000000 0300 0800 01000000 04000000"
            + "0400 0800 0100000000000000 0500 0800 0000000000000000"
            + "00000000 4c000000";
    assertThat(HexFormat.of().formatHex(bytes, crc + 4, bytes.length))
        .isEqualTo(tail.replace(" ", ""));
  }

  @Test
  void portCapturesSentAndReceivedPackets() throws IOException {
    PacketPool pool = new PacketPool();
    EthernetPort port = new EthernetPort(MAC, pool);
    try (CaptureFile capture = capture(Channels.newChannel(written), 1 << 15)) {
      port.transmit(Captures.acknowledge(1));
      port.tap(capture);
      port.transmit(Captures.acknowledge(2)); // nothing is attached: it is lost behind the port
      Packet own = Captures.acknowledge(3);
      own.destinationMac = MAC;
      port.transmit(own);
      port.deliver(Captures.acknowledge(4)); // for another port
      Packet damaged = Captures.acknowledge(5);
      damaged.destinationMac = MAC;
      damaged.damaged = true;
      port.deliver(damaged);
      port.tap(PortTap.NONE);
      port.transmit(Captures.acknowledge(6));
    }
    List<CapturedFrame> frames = Captures.read(written.toByteArray());
    assertThat(frames.stream().map(frame -> frame.direction() + " " + psn(frame)))
        .containsExactly("OUT 2", "OUT 3", "IN 3", "IN 4", "IN 5 damaged");
    assertThat(port.damaged()).isEqualTo(1);
    assertThat(Captures.statistics(written.toByteArray())).containsExactly(5, 0);
  }

  private static String psn(CapturedFrame frame) {
    Packet packet = Captures.packet(0, 0, 0);
    boolean taken =
        new FrameDecoder(frame.bytes()).decode(0, (int) frame.bytes().byteSize(), packet);
    assertThat(taken).isEqualTo(!packet.damaged);
    return packet.psn + (packet.damaged ? " damaged" : "");
  }

  @Test
  void writtenPacketsAreReadBack() throws IOException {
    Path file = folder.resolve("a.pcapng");
    now = 1_795_000_000_123_456_789L;
    try (CaptureFile capture = CaptureFile.open(file, "left ü", MAC, () -> now)) {
      for (int length = 0; length <= Packet.MAX_PAYLOAD; length++) {
        capture.received(Captures.packet(PacketOpcode.SEND_ONLY, length, length));
      }
    }
    List<CapturedFrame> frames = Captures.read(file);
    assertThat(frames).hasSize(Packet.MAX_PAYLOAD + 1);
    for (int length = 0; length <= Packet.MAX_PAYLOAD; length++) {
      CapturedFrame frame = frames.get(length);
      assertThat(frame.time()).contains(Instant.parse("2026-11-18T11:06:40.123456789Z"));
      assertThat(frame.device()).isEqualTo("left ü");
      assertThat(frame.linkType()).isEqualTo(CapturedFrame.ETHERNET);
      assertThat(frame.isCut()).isFalse();
      assertThat(psn(frame)).isEqualTo("" + length);
    }
  }

  /** A disk that accepts nothing before it is told to, except for the start of the file. */
  private final class StuckDisk implements WritableByteChannel {
    private final CountDownLatch works = new CountDownLatch(1);
    private final WritableByteChannel behind = Channels.newChannel(written);
    private boolean begun;

    @Override
    public int write(ByteBuffer from) throws IOException {
      if (begun) {
        try {
          works.await();
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
      }
      begun = true;
      return behind.write(from);
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  @Test
  void packetsThatFindNoRoomAreCounted() throws IOException {
    StuckDisk disk = new StuckDisk();
    try (CaptureFile capture = capture(disk, 1 << 13)) {
      for (int i = 0; i < 1000; i++) {
        capture.sent(Captures.packet(PacketOpcode.SEND_ONLY, i, 1000));
      }
      disk.works.countDown();
    }
    byte[] file = written.toByteArray();
    List<CapturedFrame> frames = Captures.read(file);
    // 8 KiB minus room for the largest block hold four blocks of about 1 KiB.
    assertThat(frames).hasSizeBetween(3, 8);
    assertThat(psn(frames.getFirst())).isEqualTo("0");
    assertThat(Captures.statistics(file)).containsExactly(1000, 1000 - frames.size());
  }

  @Test
  void readerWhoNeverReadsNeitherHoldsUpPacketsNorTheEnd() throws IOException {
    Pipe pipe = Pipe.open();
    try (Pipe.SourceChannel reader = pipe.source()) {
      try (CaptureFile capture = capture(pipe.sink(), 1 << 16, 100)) {
        for (int i = 0; i < 10_000; i++) {
          capture.received(Captures.packet(PacketOpcode.SEND_ONLY, i, 1000));
        }
      }
      assertThat(pipe.sink().isOpen()).isFalse();
      long left = 0;
      ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
      for (int count = reader.read(bytes); count > 0; count = reader.read(bytes.clear())) {
        left += count;
      }
      assertThat(left).as("what the pipe holds").isBetween(1000L, 1L << 20);
    }
  }

  @Test
  void withoutIpAddressesLinkLocalOnesAreWritten() throws IOException {
    Packet packet = Captures.acknowledge(1);
    packet.destinationIpv4(0);
    try (CaptureFile capture = capture(Channels.newChannel(written), 1 << 13)) {
      capture.sent(packet);
    }
    assertThat(packet.sourceIpv4()).isEqualTo(0x0a000001);
    assertThat(packet.destinationIpLow).isZero();
    CapturedFrame frame = Captures.read(written.toByteArray()).getFirst();
    assertThat(psn(frame)).isEqualTo("1");
    byte[] addresses = frame.bytes().asSlice(14 + 8, 32).toArray(ValueLayout.JAVA_BYTE);
    assertThat(HexFormat.of().formatHex(addresses))
        .isEqualTo(
            "fe800000000000000000 00fffe000001 fe800000000000000000 00fffe000002".replace(" ", ""));
  }

  @Test
  void packetWithoutAFrameIsCounted() throws IOException {
    try (CaptureFile capture = capture(Channels.newChannel(written), 1 << 13)) {
      Packet packet = Captures.acknowledge(1);
      packet.opcode = 0x15;
      capture.sent(packet);
    }
    assertThat(Captures.read(written.toByteArray())).isEmpty();
    assertThat(Captures.statistics(written.toByteArray())).containsExactly(1, 1);
  }

  /** Takes the head of a capture, and then nothing. */
  private static final class Full implements WritableByteChannel {
    final CountDownLatch failed = new CountDownLatch(1);
    private boolean begun;

    @Override
    public int write(ByteBuffer from) throws IOException {
      if (begun) {
        failed.countDown();
        throw new IOException("No space left on device");
      }
      begun = true;
      int length = from.remaining();
      from.position(from.limit());
      return length;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  @Test
  void diskFailureEndsOnlyTheFile() throws IOException {
    Full disk = new Full();
    try (CaptureFile capture = capture(disk, 1 << 13)) {
      while (disk.failed.getCount() > 0) {
        capture.sent(Captures.acknowledge(1));
      }
      for (int i = 0; i < 1000; i++) {
        capture.sent(Captures.acknowledge(1));
      }
    }
    assertThat(disk.failed.getCount()).isZero();
  }

  private List<ILoggingEvent> warnings(long patience) throws IOException {
    Logger logger = (Logger) LoggerFactory.getLogger(CaptureFile.class);
    ListAppender<ILoggingEvent> appender = new ListAppender<>();
    appender.start();
    logger.addAppender(appender);
    logger.setLevel(Level.WARN);
    try {
      capture(new Full(), 1 << 13, patience).close();
    } finally {
      logger.setLevel(null);
      logger.detachAppender(appender);
    }
    return appender.list;
  }

  @Test
  void fullDiskIsAWarningInOneLineAndAReaderWhoLeavesIsNone() throws IOException {
    assertThat(warnings(CaptureFile.WITHOUT_END))
        .singleElement()
        .satisfies(
            warning ->
                assertThat(warning.getFormattedMessage())
                    .isEqualTo(
                        "capture test ends here, as the file cannot be written:"
                            + " No space left on device"),
            warning -> assertThat(warning.getThrowableProxy()).isNull());
    assertThat(warnings(2000)).isEmpty();
  }

  @Test
  void runningCaptureIsReadable() throws IOException {
    Path file = folder.resolve("a.pcapng");
    try (CaptureFile capture = CaptureFile.open(file, "a", MAC, () -> now)) {
      assertThat(Captures.read(file)).isEmpty();
      capture.sent(Captures.acknowledge(7));
      long began = System.nanoTime();
      while (Captures.read(file).isEmpty()) {
        LockSupport.parkNanos(1_000_000);
      }
      assertThat(System.nanoTime() - began).isLessThan(10_000_000_000L);
      assertThat(psn(Captures.read(file).getFirst())).isEqualTo("7");
    }
  }

  @Test
  void fileThatCannotBeWrittenIsRefusedWithTheReason() throws IOException {
    assertRefused(folder.resolve("no/where"), "no/where cannot be written: its folder must exist");
    assertRefused(folder, "cannot be written: Is a directory");
    Path file = folder.resolve("a.pcapng");
    CaptureFile first = CaptureFile.open(file, "a", MAC, () -> now);
    first.sent(Captures.acknowledge(1));
    assertRefused(file, "another capture writes to it: give each a file of its own");
    first.close();
    first.close();
    assertThat(Captures.read(file)).hasSize(1);
    CaptureFile.open(file, "a", MAC, () -> now).close();
    assertThat(Captures.read(file)).isEmpty();
    assertThat(Files.size(file)).isEqualTo(0x2c + 0x34 + 0x4c);
  }

  private static String permissions(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  @Test
  void packetsAreForTheOwnerAlone() throws IOException {
    Path fresh = folder.resolve("new.pcapng");
    Path open = Files.writeString(folder.resolve("open.pcapng"), "what was there before");
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rw-rw-rw-"));
    for (Path file : List.of(fresh, open)) {
      try (CaptureFile capture = CaptureFile.open(file, "a", MAC, () -> now)) {
        capture.sent(Captures.acknowledge(1));
      }
      assertThat(permissions(file)).isEqualTo("rw-------");
      assertThat(Captures.read(file)).hasSize(1);
    }
  }

  @Test
  void whatOthersMayHavePutThereIsRefusedAndStaysAsItIs() throws Exception {
    Path target = Files.writeString(folder.resolve("target"), "precious");
    Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rw-r--r--"));
    Path symbolic = Files.createSymbolicLink(folder.resolve("symbolic"), target);
    assertRefused(symbolic, "it is a symbolic link: name the file itself");
    Path dangling = Files.createSymbolicLink(folder.resolve("dangling"), folder.resolve("none"));
    assertRefused(dangling, "it is a symbolic link: name the file itself");
    assertThat(folder.resolve("none")).doesNotExist();
    Path hard = Files.createLink(folder.resolve("hard"), target);
    assertRefused(hard, "it exists and has 2 hard links: remove it, or use another name");
    assertRefused(Path.of("/dev/null"), "it is not a regular file");
    Path pipe = folder.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    assertRefused(pipe, "it is not a regular file");
    assertThat(target).hasContent("precious");
    assertThat(permissions(target)).isEqualTo("rw-r--r--");
  }

  @Test
  void fileOfAnotherUserIsRefused() throws IOException {
    Path file = Files.writeString(folder.resolve("theirs"), "precious");
    try {
      Files.setAttribute(file, "unix:uid", 12345);
    } catch (IOException e) {
      Assumptions.abort("only root can give a file to another user");
    }
    assertRefused(
        file, "it exists and belongs to user 12345, this process to 0: use a name of your own");
    assertThat(file).hasContent("precious");
  }

  private void assertRefused(Path file, String message) {
    assertThatThrownBy(() -> CaptureFile.open(file, "a", MAC, () -> now))
        .isInstanceOf(CaptureException.class)
        .hasMessageEndingWith(message);
  }
}
