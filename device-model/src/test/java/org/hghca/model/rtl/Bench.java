package org.hghca.model.rtl;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.hghca.abi.Bar;
import org.hghca.abi.CompletionQueueContext;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.IcmChunk;
import org.hghca.abi.InitHca;
import org.hghca.abi.MapIcm;
import org.hghca.abi.QueuePairContext;
import org.hghca.model.ModelProvider;
import org.hghca.model.SoftwareHca;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.Locator;

/**
 * A card of the RTL with direct access to its registers, and host memory from 1 MB to 8 MB:
 * addresses below are not mapped, as behind an IOMMU. Accesses are recorded.
 */
final class Bench implements DeviceBus, AutoCloseable {
  static final int HUNG = -1;
  static final int OK = 0;
  static final int BAD_OP = 2;
  static final int BAD_PARAM = 3;
  static final long INBOX = 0x10_0000;
  static final long OUTBOX = 0x11_0000;
  static final long QPC = 0x1000_0000;
  static final long CQC = 0x2000_0000;
  static final long EQC = 0x3000_0000;
  static final long MPT = 0x4000_0000;
  static final long MTT = 0x5000_0000;

  /** Where the bench maps the first pages of the tables. */
  static final long QPC_PAGE = 0x20_0000;

  static final long CQC_PAGE = 0x30_0000;
  static final long EQC_PAGE = 0x31_0000;
  static final long MPT_PAGE = 0x32_0000;
  static final long MTT_PAGE = 0x33_0000;
  static final long FREE = 0x40_0000;

  private static final long MAPPED = 0x10_0000;
  private static final long SIZE = 0x80_0000;

  final MemorySegment memory = Arena.ofAuto().allocate(SIZE, 4096);

  /** Accesses by the card: {@code "read ADDRESS LENGTH"} or {@code "write ADDRESS LENGTH"}. */
  final List<String> accesses = new ArrayList<>();

  final SoftwareHca card;

  Bench() {
    this("r1");
  }

  Bench(String profile) {
    this(Locator.parse("model:bench?mode=inline&profile=" + profile));
  }

  Bench(Locator locator) {
    card = ModelProvider.plugIn(locator);
    card.attach(this);
    master();
  }

  void master() {
    card.writeConfiguration(0x04, 2, 1 << 2);
  }

  @Override
  public boolean read(long iova, MemorySegment destination, long offset, long length) {
    accesses.add("read %x %d".formatted(iova, length));
    if (!isMapped(iova, length)) {
      return false;
    }
    MemorySegment.copy(memory, iova, destination, offset, length);
    return true;
  }

  @Override
  public boolean write(long iova, MemorySegment source, long offset, long length) {
    accesses.add("write %x %d".formatted(iova, length));
    if (!isMapped(iova, length)) {
      return false;
    }
    MemorySegment.copy(source, offset, memory, iova, length);
    return true;
  }

  private static boolean isMapped(long iova, long length) {
    return iova >= MAPPED && iova + length <= SIZE;
  }

  @Override
  public void raise(int vector) {
    throw new AssertionError("the card raises interrupt " + vector);
  }

  int readInt(long offset) {
    return (int) card.read(Bar.BAR0, offset, 4);
  }

  void writeInt(long offset, int value) {
    card.write(Bar.BAR0, offset, 4, Integer.toUnsignedLong(value));
  }

  void ringDoorbell(long value) {
    card.write(Bar.BAR2, 0, 8, value);
  }

  MemorySegment in() {
    return memory.asSlice(INBOX, 0x1_0000);
  }

  MemorySegment out() {
    return memory.asSlice(OUTBOX, 4096);
  }

  String hex(long address, int length) {
    return HexFormat.of().formatHex(memory.asSlice(address, length).toArray(ValueLayout.JAVA_BYTE));
  }

  /** Runs a command; returns its status, or {@link #HUNG}. */
  int command(int op, int opModifier, long in, int modifier, long out) {
    writeInt(Hcr.IN_PARAM_HIGH, (int) (in >>> 32));
    writeInt(Hcr.IN_PARAM_LOW, (int) in);
    writeInt(Hcr.IN_MODIFIER, modifier);
    writeInt(Hcr.OUT_PARAM_HIGH, (int) (out >>> 32));
    writeInt(Hcr.OUT_PARAM_LOW, (int) out);
    writeInt(Hcr.COMMAND, Hcr.command(op, opModifier));
    int dword = readInt(Hcr.COMMAND);
    while (Hcr.go(dword) && !card.isInline() && !hasHung()) {
      Thread.onSpinWait();
      dword = readInt(Hcr.COMMAND);
    }
    return Hcr.go(dword) ? HUNG : Hcr.status(dword);
  }

  private boolean hasHung() {
    return card.hazards().stream().anyMatch(what -> what.endsWith("never ends"));
  }

  int command(HcrCommand command, int opModifier, int modifier) {
    return command(command.code(), opModifier, INBOX, modifier, OUTBOX);
  }

  void must(HcrCommand command, int opModifier, int modifier) {
    assertThat(command(command, opModifier, modifier)).as("%s", command).isEqualTo(OK);
  }

  Bench initialize() {
    new InitHca(QPC, 14, CQC, 13, EQC, 5, MPT, 14, MTT).encode(in());
    must(HcrCommand.INIT_HCA, 0, 0);
    return this;
  }

  /** INIT_HCA, and the first pages of each table mapped. */
  Bench bringUp() {
    initialize();
    map(MapIcm.CONTEXTS, QPC, QPC_PAGE, 4);
    map(MapIcm.CONTEXTS, CQC, CQC_PAGE, 4);
    map(MapIcm.CONTEXTS, EQC, EQC_PAGE, 1);
    map(MapIcm.TRANSLATION, MPT, MPT_PAGE, 4);
    map(MapIcm.TRANSLATION, MTT, MTT_PAGE, 4);
    accesses.clear();
    return this;
  }

  void map(int opModifier, long virtual, long bus, int pages) {
    must(map(opModifier, List.of(new IcmChunk(virtual, bus, pages))));
  }

  int map(int opModifier, List<IcmChunk> chunks) {
    MapIcm.encode(in(), chunks);
    return command(HcrCommand.MAP_ICM, opModifier, chunks.size());
  }

  private static void must(int status) {
    assertThat(status).isEqualTo(OK);
  }

  /** UNMAP_ICM. */
  int unmap(int opModifier, long virtual, int pages) {
    return command(HcrCommand.UNMAP_ICM.code(), opModifier, virtual, pages, 0);
  }

  /** MODIFY_QP with a context in which little but the state is set. */
  int modify(int qpn, int state) {
    in().asSlice(0, 192).fill((byte) 0);
    QueuePairContext.STATE.set(in(), state);
    QueuePairContext.LOCAL_QPN.set(in(), qpn);
    return command(HcrCommand.RST2INIT, 0, qpn);
  }

  int query(int qpn) {
    out().fill((byte) 0xa5);
    return command(HcrCommand.QUERY_QP.code(), 0, 0, qpn, OUTBOX);
  }

  int giveCq(int cqn, int logSize) {
    new CompletionQueueContext(0, 0, logSize, 0, 0, 5, 9, cqn).encode(in());
    return command(HcrCommand.SW2HW_CQ, 0, cqn);
  }

  @Override
  public void close() {
    card.close();
  }
}
