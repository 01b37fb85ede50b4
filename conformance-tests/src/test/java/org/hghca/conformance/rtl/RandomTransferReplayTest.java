package org.hghca.conformance.rtl;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeMap;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.hghca.abi.Bar;
import org.hghca.conformance.abi.Vectors;
import org.hghca.conformance.rtl.RandomTransfers.Program;
import org.hghca.wire.PacketOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random programs of SEND, WRITE, WRITE with immediate data and READ, recorded on the RTL and
 * replayed on its software HCA: the same completions, receives, packets, DMA and memory. For
 * requests that are rung together only the effects that follow from their order are compared, since
 * the recorded card fetches and writes in parallel.
 */
@Tag("long")
class RandomTransferReplayTest {
  private static final int CQE = 32;
  private static final int SEND_CQ = 4;
  private static final int RECEIVE_CQ = 7;
  private static final long QUEUES = TransferBench.QUEUE_PAGES[0];
  private static final long RECEIVE_QUEUE = TransferBench.QUEUE_PAGES[3];
  private static final long FIRST_CQ = TransferBench.QUEUE_PAGES[SEND_CQ];
  private static final long DATA = TransferBench.LOCAL_PAGES[3];

  static List<Program> programs() {
    return RandomTransfers.load();
  }

  @Test
  void twoHundredProgramsAreReplayed() {
    assertThat(programs()).hasSize(200);
  }

  @ParameterizedTest
  @MethodSource("programs")
  void programIsReplayedAsRecorded(Program program) {
    TransferBench bench = new TransferBench(program.mtu());
    fill(bench);
    program.post(bench);
    ringDoorbells(program, bench);

    assertThat(completions(bench, SEND_CQ)).as("send CQ").isEqualTo(program.seen().get('1'));
    assertThat(completions(bench, RECEIVE_CQ)).as("receive CQ").isEqualTo(program.seen().get('4'));
    assertThat(packets(bench, 3)).as("packets to QP 3").isEqualTo(program.seen().get('>'));
    assertThat(packets(bench, 2)).as("packets to QP 2").isEqualTo(program.seen().get('<'));
    assertThat(data(bench)).as("data read").isEqualTo(program.seen().get('d'));
    assertThat(checksums(bench)).as("memory").isEqualTo(program.seen().get('m'));
    List<String> writes = accesses(bench, "write ", QUEUES);
    List<String> fetches = accesses(bench, "read ", QUEUES);
    fetches.removeIf(fetch -> address(fetch) >= DATA);
    List<String> recordedWrites = words(program, 'w');
    List<String> recordedFetches = words(program, 'q');
    if (program.together()) {
      assertSame(writes, recordedWrites, at -> at < FIRST_CQ + 0x2000);
      assertSame(writes, recordedWrites, at -> at >= TransferBench.REMOTE_PAGES[3]);
      assertSame(fetches, recordedFetches, at -> at < RECEIVE_QUEUE);
      assertSame(fetches, recordedFetches, at -> at >= RECEIVE_QUEUE);
    } else {
      assertThat(writes).as("writes").isEqualTo(recordedWrites);
      assertThat(fetches).as("WQEs read").isEqualTo(recordedFetches);
    }
  }

  private static void fill(TransferBench bench) {
    bench.fill(TransferBench.LOCAL_PAGES);
    bench.fill(TransferBench.REMOTE_PAGES);
    for (long page : TransferBench.REMOTE_PAGES) {
      for (long at = page; at < page + 0x1000; at++) {
        byte value = bench.memory.bytes.get(ValueLayout.JAVA_BYTE, at);
        bench.memory.bytes.set(ValueLayout.JAVA_BYTE, at, (byte) (value ^ 0x5a));
      }
    }
  }

  private static void ringDoorbells(Program program, TransferBench bench) {
    int last = program.requests().size() - 1;
    for (int i = 0; i <= last; i++) {
      long doorbell = program.requests().get(i).doorbell(i);
      if (program.together() && i < last) {
        bench.card.write(Bar.BAR2, 0, Long.BYTES, doorbell);
      } else {
        bench.ringDoorbell(doorbell);
      }
    }
  }

  /** The completions in a queue, each as its dwords. */
  private static String completions(TransferBench bench, int queue) {
    ByteBuffer ring =
        bench
            .memory
            .bytes
            .asSlice(TransferBench.QUEUE_PAGES[queue], (long) CQE << TransferBench.ENTRIES_LOG)
            .asByteBuffer()
            .order(ByteOrder.LITTLE_ENDIAN);
    List<String> entries = new ArrayList<>();
    for (int at = 0; ring.getLong(at) != 0 || ring.getLong(at + 24) != 0; at += CQE) {
      List<String> dwords = new ArrayList<>();
      for (int i = 0; i < CQE; i += Integer.BYTES) {
        dwords.add(Integer.toHexString(ring.getInt(at + i)));
      }
      entries.add(String.join(".", dwords));
    }
    return String.join(" ", entries);
  }

  /** Operation, PSN and payload of each packet to a QP. */
  private static String packets(TransferBench bench, int qpn) {
    return bench.packets.stream()
        .map(beats -> ByteBuffer.wrap(HexFormat.of().parseHex(beats.getFirst())))
        .map(beat -> beat.order(ByteOrder.LITTLE_ENDIAN))
        .filter(beat -> (beat.getInt(4) & 0xff_ffff) == qpn)
        .map(RandomTransferReplayTest::packet)
        .collect(Collectors.joining(" "));
  }

  private static String packet(ByteBuffer beat) {
    int operation = beat.get(3) & 0xff;
    boolean carries =
        operation != PacketOpcode.READ_REQUEST && operation != PacketOpcode.ACKNOWLEDGE;
    int length = beat.get(7) & 0x3f | (beat.get(11) & 0x7f) << 6;
    return "%x:%x:%d".formatted(operation, beat.getInt(8) & 0xff_ffff, carries ? length : 0);
  }

  /** The accesses of one kind, from an address on, each as address and length. */
  private static List<String> accesses(TransferBench bench, String kind, long from) {
    return bench.memory.accesses.stream()
        .filter(access -> access.startsWith(kind))
        .map(access -> access.split(" "))
        .filter(words -> Vectors.longNumber(words[1]) >= from)
        .map(words -> words[1] + ":" + (words[0].equals("read") ? words[2] : words[2].length() / 2))
        .collect(Collectors.toCollection(ArrayList::new));
  }

  private static long address(String access) {
    return Vectors.longNumber(access.substring(0, access.indexOf(':')));
  }

  /** The data that was read, independent of the size of the reads. */
  private static String data(TransferBench bench) {
    TreeMap<Long, Long> ranges = new TreeMap<>();
    for (String access : accesses(bench, "read ", DATA)) {
      long end = address(access) + Long.parseLong(access.substring(access.indexOf(':') + 1));
      ranges.merge(address(access), end, Math::max);
    }
    List<String> joined = new ArrayList<>();
    while (!ranges.isEmpty()) {
      long start = ranges.firstKey();
      long end = ranges.pollFirstEntry().getValue();
      while (!ranges.isEmpty() && ranges.firstKey() <= end) {
        end = Math.max(end, ranges.pollFirstEntry().getValue());
      }
      joined.add("%x:%d".formatted(start, end - start));
    }
    return String.join(" ", joined);
  }

  private static String checksums(TransferBench bench) {
    return checksum(bench, TransferBench.LOCAL_PAGES)
        + " "
        + checksum(bench, TransferBench.REMOTE_PAGES);
  }

  private static String checksum(TransferBench bench, long[] pages) {
    CRC32 crc = new CRC32();
    for (long page : pages) {
      crc.update(bench.memory.bytes.asSlice(page, 0x1000).asByteBuffer());
    }
    return "%08x".formatted(crc.getValue());
  }

  private static List<String> words(Program program, char line) {
    return Arrays.asList(program.seen().get(line).split(" "));
  }

  private static void assertSame(List<String> seen, List<String> recorded, LongPredicate where) {
    assertThat(seen.stream().filter(access -> where.test(address(access))).toList())
        .isEqualTo(recorded.stream().filter(access -> where.test(address(access))).toList());
  }
}
