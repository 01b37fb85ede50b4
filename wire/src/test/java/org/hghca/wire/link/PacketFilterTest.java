package org.hghca.wire.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import org.hghca.linux.Linux;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The kernel runs the program, on frames that come by a Unix socket. */
final class PacketFilterTest {
  private static final int UNIX_DATAGRAMS = 2 | 0x800 | 0x80000;
  private static final String SOURCE = "525400123456";
  private static final String IPV4 = "0800 4500 0030 0000 4000 40 %s 0000 0a000002 0a000001 ";
  private static final String IPV4_OPTIONS =
      "0800 4600 0034 0000 4000 40 11 0000 0a000002 0a000001 01010101 ";
  private static final String IPV6 = "86dd 60000000 0018 %s 40" + "fe80".repeat(16);

  @TempDir private Path directory;

  private final SystemCalls linux = Linux.system();
  private int receiver;
  private int sender;

  @BeforeEach
  void open() {
    MemorySegment name = Arena.ofAuto().allocate(110, 2);
    byte[] path = directory.resolve("s").toString().getBytes(StandardCharsets.UTF_8);
    name.set(ValueLayout.JAVA_SHORT, 0, (short) 1);
    MemorySegment.copy(path, 0, name, ValueLayout.JAVA_BYTE, 2, path.length);
    receiver = linux.socket(1, UNIX_DATAGRAMS, 0);
    sender = linux.socket(1, UNIX_DATAGRAMS, 0);
    assertThat(linux.bind(receiver, name)).isZero();
    assertThat(linux.connect(sender, name)).isZero();
  }

  @AfterEach
  void close() {
    linux.close(receiver);
    linux.close(sender);
  }

  private boolean passes(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
    MemorySegment frame = Arena.ofAuto().allocate(bytes.length);
    frame.copyFrom(MemorySegment.ofArray(bytes));
    linux.write(sender, frame); // EPERM where the filter drops it
    long read = linux.read(receiver, Arena.ofAuto().allocate(200));
    assertThat(read == bytes.length || LinuxErrno.EAGAIN.is(read)).as("%d bytes", read).isTrue();
    return read >= 0;
  }

  @ParameterizedTest
  @CsvSource({
    // destination, rest of the frame, whether it comes
    "020000000001, ROCE4, true",
    "ffffffffffff, ROCE4, true",
    "01005e000001, ROCE4, true",
    "020000000002, ROCE4, false",
    "030000000001, ROCE4, true", // a group
    "020000010001, ROCE4, false",
    "040000000001, ROCE4, false",
    "020000000001, OPTIONS4, true",
    "020000000001, UDP4, false",
    "020000000001, FROM4, false",
    "020000000001, TCP4, false",
    "01005e000001, IGMP, true",
    "020000000002, IGMP, false",
    "020000000001, ROCE6, true",
    "333300000001, ROCE6, true",
    "020000000002, ROCE6, false",
    "020000000001, UDP6, false",
    "020000000001, TCP6, false",
    "333300000001, 132, false",
    "333300000001, 133, true",
    "333300000001, 135, true",
    "020000000001, 136, true",
    "020000000001, 137, true",
    "020000000001, 138, false",
    "020000000001, 128, false", // ping
    "333300000001, MLD130, true",
    "333300000016, MLD143, false",
    "020000000002, MLD130, false",
    "333300000001, OPTIONS6, false",
    "020000000001, ARP, true",
    "ffffffffffff, ARP, true",
    "020000000002, ARP, false",
    "ffffffffffff, IPX, false",
    "020000000001, SHORT, false",
  })
  void onlyWhatIsForThePortPasses(String destination, String what, boolean comes) {
    assertThat(PacketFilter.attach(linux, receiver, PacketFilter.ofPort(0x0200_0000_0001L)))
        .isZero();
    String rest =
        switch (what) {
          case "ROCE4" -> IPV4.formatted("11") + "c123 12b7 001c 0000" + "00".repeat(20);
          case "OPTIONS4" -> IPV4_OPTIONS + "c123 12b7 001c 0000" + "00".repeat(20);
          case "UDP4" -> IPV4.formatted("11") + "c123 12b8 001c 0000" + "00".repeat(20);
          case "FROM4" -> IPV4.formatted("11") + "12b7 c123 001c 0000" + "00".repeat(20);
          case "TCP4" -> IPV4.formatted("06") + "c123 12b7 001c 0000" + "00".repeat(20);
          case "IGMP" -> IPV4.formatted("02") + "1114eeeb 00000000" + "00".repeat(20);
          case "ROCE6" -> IPV6.formatted("11") + "c123 12b7 0018 0000" + "00".repeat(16);
          case "UDP6" -> IPV6.formatted("11") + "12b7 c123 0018 0000" + "00".repeat(16);
          case "TCP6" -> IPV6.formatted("06") + "c123 12b7 0018 0000" + "00".repeat(16);
          case "MLD130" -> IPV6.formatted("00") + "3a00050200000100 82 00f162" + "00".repeat(24);
          case "MLD143" -> IPV6.formatted("00") + "3a00050200000100 8f 000a69" + "00".repeat(24);
          case "OPTIONS6" -> IPV6.formatted("00") + "1100050200000100 82 00f162" + "00".repeat(24);
          case "ARP" -> "0806 0001 0800 0604 0001" + "00".repeat(38);
          case "IPX" -> "8137" + "00".repeat(46);
          case "SHORT" -> "0800";
          default ->
              IPV6.formatted("3a")
                  + "%02x000000".formatted(Integer.valueOf(what))
                  + "00".repeat(20);
        };
    assertThat(passes(destination + SOURCE + rest)).isEqualTo(comes);
  }

  @Test
  void nothingPassesTheFilterOfNothing() {
    assertThat(passes("00".repeat(60))).isTrue();
    assertThat(PacketFilter.attach(linux, receiver, PacketFilter.ofNothing())).isZero();
    assertThat(passes("00".repeat(60))).isFalse();
  }
}
