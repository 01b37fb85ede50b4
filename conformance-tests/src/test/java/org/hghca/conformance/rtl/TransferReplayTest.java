package org.hghca.conformance.rtl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.hghca.conformance.abi.Vectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The transfers from QP 2 to QP 3, recorded on the RTL and replayed on its software HCA: the same
 * WQEs and doorbells lead to the same packets, the same CQEs and the same DMA. Where the recorded
 * card works in parallel, the order may differ.
 */
class TransferReplayTest {
  private static final long QUEUES = 0x100_0000;

  private static final Pattern READ = Pattern.compile("DMARD (\\w+) addr=(\\w+) len=(\\d+)");
  private static final Pattern WRITE =
      Pattern.compile("DMAWR dt addr=(\\w+) len=(\\d+)( first)?(?: last)? data=(\\w+)");

  /** A recorded transfer. */
  record Transfer(Map<?, ?> recorded) {
    String name() {
      return Vectors.text(recorded, "name");
    }

    @SuppressWarnings("unchecked")
    List<String> strings(String key) {
      return (List<String>) recorded.get(key);
    }

    @SuppressWarnings("unchecked")
    Map<String, List<String>> cqes() {
      return (Map<String, List<String>>) recorded.get("cqes");
    }

    int mtu() {
      Object mtu = ((Map<?, ?>) recorded.get("config")).get("mtu");
      return mtu == null ? 5 : Integer.parseInt((String) mtu);
    }

    @Override
    public String toString() {
      return name();
    }
  }

  static List<Transfer> transfers() {
    return Vectors.loadObjects("stage3_rc_data.json").stream().map(Transfer::new).toList();
  }

  /** The sent packets, those to the peer first: the two directions overlap. */
  private static List<String> ordered(List<List<String>> packets) {
    return packets.stream()
        .sorted(Comparator.comparing(beats -> beats.getFirst().substring(4, 6)))
        .flatMap(List::stream)
        .toList();
  }

  private static List<List<String>> recordedPackets(Transfer transfer) {
    List<List<String>> packets = new ArrayList<>();
    List<String> beats = transfer.strings("packets_beats");
    for (int at = 0; at < beats.size(); ) {
      byte[] header = HexFormat.of().parseHex(beats.get(at));
      int length = header[7] & 0x3f | (header[11] & 0x7f) << 6;
      int count = (Beats.headerSize(header[3] & 0x1f) + length + 31) / 32;
      packets.add(beats.subList(at, at + count));
      at += count;
    }
    return packets;
  }

  /** The reads of queues, and every byte of data that was read. */
  private static List<String> recordedReads(Transfer transfer) {
    List<String> queues = new ArrayList<>();
    TreeSet<Long> data = new TreeSet<>();
    for (String line : transfer.strings("trace")) {
      Matcher read = READ.matcher(line);
      if (read.matches()) {
        note(read.group(2), read.group(3), read.group(1).equals("wqe"), queues, data);
      }
    }
    queues.add(data.toString());
    return queues;
  }

  private static List<String> reads(FlatMemory memory) {
    List<String> queues = new ArrayList<>();
    TreeSet<Long> data = new TreeSet<>();
    for (String access : memory.accesses) {
      String[] words = access.split(" ");
      long address = Vectors.longNumber(words[1]);
      if (words[0].equals("read") && address >= QUEUES) {
        note(words[1], words[2], address < TransferBench.LOCAL_PAGES[3], queues, data);
      }
    }
    queues.add(data.toString());
    return queues;
  }

  private static void note(
      String address, String length, boolean queue, List<String> queues, Set<Long> data) {
    if (queue) {
      queues.add(address + " " + length);
    } else {
      long from = Vectors.longNumber(address);
      LongStream.range(from, from + Integer.parseInt(length)).forEach(data::add);
    }
  }

  private static List<String> recordedWrites(Transfer transfer) {
    List<String> writes = new ArrayList<>();
    for (String line : transfer.strings("trace")) {
      Matcher write = WRITE.matcher(line);
      if (write.matches() && write.group(3) != null) {
        writes.add("write %s %s".formatted(write.group(1), write.group(4)));
      } else if (write.matches()) {
        writes.add(writes.removeLast() + write.group(4));
      }
    }
    return writes;
  }

  private static List<String> writes(FlatMemory memory) {
    return memory.accesses.stream()
        .filter(access -> access.startsWith("write "))
        .filter(access -> Vectors.longNumber(access.split(" ")[1]) >= QUEUES)
        .toList();
  }

  @Test
  void allTransfersAreReplayed() {
    assertThat(transfers()).hasSize(15);
  }

  @ParameterizedTest
  @MethodSource("transfers")
  void transferIsReplayedAsRecorded(Transfer transfer) {
    TransferBench bench = new TransferBench(transfer.mtu());
    boolean isRead = transfer.name().startsWith("RDMA_READ");
    bench.fill(isRead ? TransferBench.REMOTE_PAGES : TransferBench.LOCAL_PAGES);
    long doorbell = 0;
    for (Object input : Vectors.list(transfer.recorded().get("inputs"))) {
      List<?> parts = Vectors.list(input);
      boolean send = parts.getFirst().equals("sq_wqe slot0");
      bench.put(TransferBench.QUEUE_PAGES[send ? 0 : 3], (String) parts.get(1));
      if (send) {
        doorbell = Vectors.longNumber(((String) parts.get(2)).substring("doorbell ".length()));
      }
    }
    bench.ringDoorbell(doorbell);

    assertThat(ordered(bench.packets)).isEqualTo(ordered(recordedPackets(transfer)));
    assertThat(writes(bench.memory)).isEqualTo(recordedWrites(transfer));
    assertThat(reads(bench.memory)).isEqualTo(recordedReads(transfer));
    transfer
        .cqes()
        .forEach(
            (queue, entries) -> {
              int cqn = Integer.parseInt(queue.substring(queue.length() - 1));
              String ring =
                  bench.memory.hex(
                      TransferBench.QUEUE_PAGES[3 + cqn], 32L << TransferBench.ENTRIES_LOG);
              assertThat(ring).as(queue).startsWith(String.join("", entries));
              assertThat(ring.substring(64 * entries.size())).as(queue).matches("0*");
            });
  }
}
