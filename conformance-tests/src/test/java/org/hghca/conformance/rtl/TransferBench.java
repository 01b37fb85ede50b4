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
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.hghca.abi.Bar;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.abi.Mpt;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.abi.WriteMtt;
import org.hghca.model.card.Faults;
import org.hghca.model.rtl.RtlCard;
import org.hghca.model.rtl.r1.R1Engine;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Medium;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;

/** The card connected to itself; packets are recorded on the way. */
final class TransferBench implements Medium {
  private static final int DWORD = 4;
  private static final int PD = 1;
  private static final long MEMORY = 32 << 20;
  private static final int PAGE = 4096;
  private static final int INBOX = 0x10_0000;
  private static final long ICM = 0x20_0000;
  private static final long PORT_MAC = 0x0200_0000_0001L;

  /** The numbers that the QPs hold for their peer's: the CQEs show the low 16 bits. */
  private static final long PEER_MAC = 0x0200_0000_0022L;

  private static final int FIRST_PSN = 0x100;
  static final int ENTRIES_LOG = 4;

  private static final int LOCAL_KEY = 0x20;
  private static final int REMOTE_KEY = 0x21;
  static final long[] LOCAL_PAGES = {0x102_c000, 0x102_8000, 0x102_4000, 0x102_0000};
  static final long[] REMOTE_PAGES = {0x104_c000, 0x104_8000, 0x104_4000, 0x104_0000};

  /** First pages of the queues with the keys 10h to 17h. */
  static final long[] QUEUE_PAGES = {
    0x100_0000, 0x100_2000, 0x100_4000, 0x100_6000, 0x100_8000, 0x100_a000, 0x100_c000, 0x100_e000
  };

  final FlatMemory memory = new FlatMemory(MEMORY);
  final EthernetPort port = new EthernetPort(PORT_MAC, new PacketPool());
  final RtlCard card = R1Engine.card(port, new Faults(), Set.of());
  final List<List<String>> packets = new ArrayList<>();
  private final MemorySegment mailbox = Arena.ofAuto().allocate(PAGE);
  private int nextPage;

  TransferBench(int mtu) {
    port.plug(this);
    card.attach(memory);
    card.busMaster(true);
    new InitHca(ICM, 10, ICM + 0x2_0000, 10, ICM + 0x4_0000, 5, ICM + 0x6_0000, 10, ICM + 0x8_0000)
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

  void ringDoorbell(long doorbell) {
    card.write(Bar.BAR2, 0, Long.BYTES, doorbell);
    while (card.step(0)) {
      // until no work is left
    }
  }

  @Override
  public boolean isUp() {
    return true;
  }

  @Override
  public void carry(EthernetPort from, Packet packet) {
    packets.add(Beats.of(packet));
    packet.destinationMac = PORT_MAC;
    from.deliver(packet);
  }

  /** Fills a region with the bytes that it held when the transfers were recorded. */
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
