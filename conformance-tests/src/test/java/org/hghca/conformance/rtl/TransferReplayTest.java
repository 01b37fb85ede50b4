package org.hghca.conformance.rtl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.hghca.abi.QueuePairContext.DMAC_HIGH;
import static org.hghca.abi.QueuePairContext.DMAC_LOW;
import static org.hghca.abi.QueuePairContext.LAST_ACKED_PSN;
import static org.hghca.abi.QueuePairContext.LOCAL_QPN;
import static org.hghca.abi.QueuePairContext.MTU;
import static org.hghca.abi.QueuePairContext.NEXT_RECEIVE_PSN;
import static org.hghca.abi.QueuePairContext.NEXT_SEND_PSN;
import static org.hghca.abi.QueuePairContext.RECEIVE_CQN;
import static org.hghca.abi.QueuePairContext.RECEIVE_WQE_LENGTH;
import static org.hghca.abi.QueuePairContext.RECEIVE_WQE_LKEY;
import static org.hghca.abi.QueuePairContext.REMOTE_QPN;
import static org.hghca.abi.QueuePairContext.RQ_ENTRY_SIZE;
import static org.hghca.abi.QueuePairContext.SEND_CQN;
import static org.hghca.abi.QueuePairContext.SEND_WQE_LENGTH;
import static org.hghca.abi.QueuePairContext.SEND_WQE_LKEY;
import static org.hghca.abi.QueuePairContext.SQ_ENTRY_SIZE;
import static org.hghca.abi.QueuePairContext.STATE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
import org.hghca.abi.Bar;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.WriteMtt;
import org.hghca.conformance.abi.Vectors;
import org.hghca.model.hca.Faults;
import org.hghca.model.link.Medium;
import org.hghca.model.link.Packet;
import org.hghca.model.link.PacketPool;
import org.hghca.model.link.Port;
import org.hghca.model.rtl.RtlCard;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The transfers from QP 2 to QP 3 that were recorded on the RTL, played on the card that plays it:
 * from the same WQEs and doorbells come the same packets, the same CQEs and the same DMA. Where the
 * recorded card does two things side by side, their order is its own.
 */
class TransferReplayTest {
  private static final int DWORD = 4;
  private static final int PD = 1;
  private static final long MEMORY = 32 << 20;
  private static final long QUEUES = 0x100_0000;
  private static final int PAGE = 4096;
  private static final int INBOX = 0x10_0000;
  private static final long ICM = 0x20_0000;
  private static final long PORT_MAC = 0x0200_0000_0001L;

  /** What the QPs hold for their peer's: the CQEs show its low 16 bits. */
  private static final long PEER_MAC = 0x0200_0000_0022L;

  private static final int FIRST_PSN = 0x100;
  private static final int ENTRIES_LOG = 4;

  private static final int LOCAL_KEY = 0x20;
  private static final int REMOTE_KEY = 0x21;
  private static final long[] LOCAL_PAGES = {0x102_c000, 0x102_8000, 0x102_4000, 0x102_0000};
  private static final long[] REMOTE_PAGES = {0x104_c000, 0x104_8000, 0x104_4000, 0x104_0000};

  /** First pages of the queues that the keys 10h to 17h are for. */
  private static final long[] QUEUE_PAGES = {
    0x100_0000, 0x100_2000, 0x100_4000, 0x100_6000, 0x100_8000, 0x100_a000, 0x100_c000, 0x100_e000
  };

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

  /** What was sent, all packets to the peer first: the two directions overlap. */
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

  /** What was read of queues, and every byte of data that was read. */
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
        note(words[1], words[2], address < LOCAL_PAGES[3], queues, data);
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
  void allTransfersArePlayed() {
    assertThat(transfers()).hasSize(15);
  }

  @ParameterizedTest
  @MethodSource("transfers")
  void aTransferGoesAsRecorded(Transfer transfer) {
    Bench bench = new Bench(transfer.mtu());
    boolean isRead = transfer.name().startsWith("RDMA_READ");
    bench.fill(isRead ? REMOTE_PAGES : LOCAL_PAGES);
    long doorbell = 0;
    for (Object input : Vectors.list(transfer.recorded().get("inputs"))) {
      List<?> parts = Vectors.list(input);
      boolean send = parts.getFirst().equals("sq_wqe slot0");
      bench.put(QUEUE_PAGES[send ? 0 : 3], (String) parts.get(1));
      if (send) {
        doorbell = Vectors.longNumber(((String) parts.get(2)).substring("doorbell ".length()));
      }
    }
    bench.ring(doorbell);

    assertThat(ordered(bench.packets)).isEqualTo(ordered(recordedPackets(transfer)));
    assertThat(writes(bench.memory)).isEqualTo(recordedWrites(transfer));
    assertThat(reads(bench.memory)).isEqualTo(recordedReads(transfer));
    transfer
        .cqes()
        .forEach(
            (queue, entries) -> {
              int cqn = Integer.parseInt(queue.substring(queue.length() - 1));
              String ring = bench.memory.hex(QUEUE_PAGES[3 + cqn], 32L << ENTRIES_LOG);
              assertThat(ring).as(queue).startsWith(String.join("", entries));
              assertThat(ring.substring(64 * entries.size())).as(queue).matches("0*");
            });
  }

  /** The card with its packets led round to itself, and noted on the way. */
  private static final class Bench implements Medium {
    final FlatMemory memory = new FlatMemory(MEMORY);
    final Port port = new Port(PORT_MAC, new PacketPool());
    final RtlCard card = new RtlCard(HardwareProfile.R1, port, new Faults(), 0);
    final List<List<String>> packets = new ArrayList<>();
    private final MemorySegment mailbox = Arena.ofAuto().allocate(PAGE);
    private int nextPage;

    Bench(int mtu) {
      port.plug(this);
      card.attach(memory);
      card.busMaster(true);
      new InitHca(
              ICM, 10, ICM + 0x2_0000, 10, ICM + 0x4_0000, 5, ICM + 0x6_0000, 10, ICM + 0x8_0000)
          .encode(mailbox);
      run(HcrCommand.INIT_HCA, 0, 0);
      for (int table = 0; table < 5; table++) {
        long at = ICM + 0x2_0000L * table;
        mailbox.fill((byte) 0);
        MapIcm.encode(mailbox, List.of(new IcmChunk(at, at, 1)));
        run(HcrCommand.MAP_ICM, table < 3 ? MapIcm.CONTEXTS : MapIcm.TRANSLATION, 1);
      }
      for (int i = 0; i < QUEUE_PAGES.length; i++) {
        register(0x10 + i, 0, 7, QUEUE_PAGES[i], QUEUE_PAGES[i] + PAGE);
      }
      register(LOCAL_KEY, 0x7f00_0000_0000L, 7, LOCAL_PAGES);
      register(REMOTE_KEY, 0x7e00_0000_0000L, 7, REMOTE_PAGES);
      for (int cqn = 1; cqn <= 4; cqn++) {
        mailbox.fill((byte) 0);
        CompletionQueueContext.LOG_SIZE.set(mailbox, ENTRIES_LOG);
        CompletionQueueContext.PD.set(mailbox, PD);
        CompletionQueueContext.LKEY.set(mailbox, 0x13 + cqn);
        run(HcrCommand.SW2HW_CQ, 0, cqn);
      }
      connect(2, 3, mtu, 0x10, 0x11, 1, 2);
      connect(3, 2, mtu, 0x12, 0x13, 3, 4);
      memory.accesses.clear();
    }

    private void register(int key, long start, int access, long... pages) {
      mailbox.fill((byte) 0);
      WriteMtt.encode(mailbox, nextPage, pages);
      run(HcrCommand.WRITE_MTT, 0, pages.length);
      mailbox.fill((byte) 0);
      Mpt.FLAGS.set(mailbox, access);
      Mpt.KEY.set(mailbox, key);
      Mpt.PD.set(mailbox, PD);
      Mpt.START.setLong(mailbox, start);
      Mpt.LENGTH.setLong(mailbox, (long) pages.length * PAGE);
      Mpt.MTT_SEGMENT.setLong(mailbox, nextPage);
      run(HcrCommand.SW2HW_MPT, 0, key);
      nextPage += pages.length;
    }

    private void connect(
        int qpn, int peer, int mtu, int sendKey, int receiveKey, int sendCqn, int receiveCqn) {
      mailbox.fill((byte) 0);
      STATE.set(mailbox, QpcState.RTS);
      MTU.set(mailbox, mtu);
      RQ_ENTRY_SIZE.set(mailbox, 6);
      SQ_ENTRY_SIZE.set(mailbox, 6);
      LOCAL_QPN.set(mailbox, qpn);
      REMOTE_QPN.set(mailbox, peer);
      DMAC_LOW.set(mailbox, (int) PEER_MAC & 0xffff);
      DMAC_HIGH.set(mailbox, (int) (PEER_MAC >>> 16));
      QueuePairContext.PD.set(mailbox, PD);
      NEXT_SEND_PSN.set(mailbox, FIRST_PSN);
      LAST_ACKED_PSN.set(mailbox, FIRST_PSN);
      NEXT_RECEIVE_PSN.set(mailbox, FIRST_PSN);
      SEND_CQN.set(mailbox, sendCqn);
      SEND_WQE_LKEY.set(mailbox, sendKey);
      SEND_WQE_LENGTH.set(mailbox, PAGE);
      RECEIVE_CQN.set(mailbox, receiveCqn);
      RECEIVE_WQE_LKEY.set(mailbox, receiveKey);
      RECEIVE_WQE_LENGTH.set(mailbox, PAGE);
      run(HcrCommand.RTR2RTS, 0, qpn);
    }

    private void run(HcrCommand command, int opModifier, int modifier) {
      memory.bytes.asSlice(INBOX, PAGE).copyFrom(mailbox);
      write(Hcr.IN_PARAM_HIGH, 0);
      write(Hcr.IN_PARAM_LOW, INBOX);
      write(Hcr.IN_MODIFIER, modifier);
      write(Hcr.COMMAND, Hcr.command(command.code(), opModifier));
      card.step(0);
      int dword = (int) card.read(Bar.BAR0, Hcr.COMMAND, DWORD);
      assertThat(Hcr.go(dword)).as("%s still runs", command).isFalse();
      assertThat(Hcr.status(dword)).as("%s", command).isZero();
    }

    private void write(long offset, int value) {
      card.write(Bar.BAR0, offset, DWORD, Integer.toUnsignedLong(value));
    }

    void ring(long doorbell) {
      card.write(Bar.BAR2, 0, Long.BYTES, doorbell);
      while (card.step(0)) {
        // until nothing is left to do
      }
    }

    @Override
    public boolean isUp() {
      return true;
    }

    @Override
    public void carry(Port from, Packet packet) {
      packets.add(Beats.of(packet));
      packet.destinationMac = PORT_MAC;
      from.deliver(packet);
    }

    /** Fills a region with the bytes that were there when the transfers were recorded. */
    void fill(long[] pages) {
      for (int i = 0; i < pages.length * PAGE; i++) {
        byte value = (byte) (3 + 7 * i + 13 * (i >> 8));
        memory.bytes.set(ValueLayout.JAVA_BYTE, pages[i / PAGE] + i % PAGE, value);
      }
    }

    void put(long address, String hex) {
      byte[] bytes = HexFormat.of().parseHex(hex);
      MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory.bytes, address, bytes.length);
    }
  }
}
