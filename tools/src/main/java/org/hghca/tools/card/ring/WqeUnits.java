package org.hghca.tools.card.ring;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.hghca.abi.AtomicUnit;
import org.hghca.abi.DataUnit;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.UdUnit;
import org.hghca.abi.WqeOpcode;
import org.hghca.tools.card.fields.Fields;
import org.hghca.tools.card.fields.Shown;

/** The units of a WQE by their fields. */
final class WqeUnits {
  private final MemorySegment wqe;
  private final List<Fields> units = new ArrayList<>();
  private final List<Element> elements = new ArrayList<>();
  private boolean terminated;
  private int at = NextUnit.SIZE;

  /** A data unit. */
  record Element(int lkey, long address, int bytes) {}

  private WqeUnits(MemorySegment wqe) {
    this.wqe = wqe;
    units.add(next());
  }

  /**
   * A send WQE.
   *
   * @param slot its bytes, at least a next unit
   * @param ud whether its transport is UD
   */
  static WqeUnits ofSend(MemorySegment slot, boolean ud) {
    int size = NextUnit.size16(slot, 0) * NextUnit.SIZE;
    WqeUnits units =
        new WqeUnits(slot.asSlice(0, Math.clamp(size, NextUnit.SIZE, slot.byteSize())));
    units.address(NextUnit.opcode(slot, 0), ud);
    units.data(false);
    return units;
  }

  /** A receive WQE, whose data units end with one of zeros. */
  static WqeUnits ofReceive(MemorySegment slot) {
    WqeUnits units = new WqeUnits(slot);
    units.data(true);
    return units;
  }

  /** The units in their order, the next unit first. */
  List<Fields> units() {
    return units;
  }

  /** The data units without the terminator. */
  List<Element> elements() {
    return elements;
  }

  /** Whether a unit of zeros ends the data units. */
  boolean isTerminated() {
    return terminated;
  }

  private Fields next() {
    int flags = NextUnit.flags(wqe, 0);
    return unit("next")
        .put("nda", Shown.hex(NextUnit.nextHeadUnits16(wqe, 0), 1))
        .put("nop", NextUnit.nextOpcode(wqe, 0))
        .put("nee", NextUnit.nextEe(wqe, 0))
        .put("dbd", NextUnit.nextDbd(wqe, 0))
        .put("f", NextUnit.nextFence(wqe, 0))
        .put("nds", NextUnit.nextSize16(wqe, 0))
        .put(
            "opcode", Shown.named(NextUnit.opcode(wqe, 0), WqeOpcode.name(NextUnit.opcode(wqe, 0))))
        .put("size", NextUnit.size16(wqe, 0))
        .put("c", bit(flags, NextUnit.COMPLETION))
        .put("e", bit(flags, NextUnit.EVENT))
        .put("s", bit(flags, NextUnit.SOLICITED))
        .put("marker", bit(flags, NextUnit.MARKER))
        .put("imm_data", Shown.hex(NextUnit.immediate(wqe, 0) & 0xffff_ffffL, 8));
  }

  private static int bit(int flags, int mask) {
    return (flags & mask) == 0 ? 0 : 1;
  }

  private static Fields unit(String name) {
    return new Fields().put("unit", name);
  }

  private boolean has(int bytes) {
    return at + bytes <= wqe.byteSize();
  }

  private void add(Fields unit, int bytes) {
    units.add(unit);
    at += bytes;
  }

  private void address(int opcode, boolean ud) {
    if (ud && has(UdUnit.SIZE)) {
      add(datagram(), UdUnit.SIZE);
    }
    boolean remote =
        switch (opcode) {
          case WqeOpcode.RDMA_WRITE,
              WqeOpcode.RDMA_WRITE_IMM,
              WqeOpcode.RDMA_READ,
              WqeOpcode.ATOMIC_CS,
              WqeOpcode.ATOMIC_FA ->
              true;
          default -> false;
        };
    if (remote && has(RemoteAddressUnit.SIZE)) {
      add(
          unit("raddr")
              .put("raddr", Shown.hex(RemoteAddressUnit.address(wqe, at), 1))
              .put("rkey", key(RemoteAddressUnit.rkey(wqe, at))),
          RemoteAddressUnit.SIZE);
    }
    boolean atomic = opcode == WqeOpcode.ATOMIC_CS || opcode == WqeOpcode.ATOMIC_FA;
    if (atomic && has(AtomicUnit.SIZE)) {
      add(
          unit("atomic")
              .put("swap_add", Shown.hex(AtomicUnit.swapAdd(wqe, at), 1))
              .put("cmp", Shown.hex(AtomicUnit.compare(wqe, at), 1)),
          AtomicUnit.SIZE);
    }
  }

  private Fields datagram() {
    Fields unit =
        unit("ud")
            .put("port", UdUnit.port(wqe, at))
            .put("smac", Shown.hex(UdUnit.sourceMac(wqe, at), 12))
            .put("dmac", Shown.hex(UdUnit.destinationMac(wqe, at), 12));
    if (UdUnit.isIpv6(wqe, at)) {
      unit.put("sgid_index", UdUnit.sourceIndex(wqe, at))
          .put("dgid[127:64]", Shown.hex(UdUnit.destinationGidHigh(wqe, at), 16))
          .put("dgid[63:0]", Shown.hex(UdUnit.destinationGidLow(wqe, at), 16));
    } else {
      unit.put("sip", key(UdUnit.sourceIp(wqe, at))).put("dip", key(UdUnit.destinationIp(wqe, at)));
    }
    unit.put("dqpn", UdUnit.destinationQpn(wqe, at)).put("qkey", key(UdUnit.qkey(wqe, at)));
    if (UdUnit.hasPath(wqe, at)) {
      unit.put("hop_limit", UdUnit.hopLimit(wqe, at))
          .put("tclass", UdUnit.trafficClass(wqe, at))
          .put("flow_label", Shown.hex(UdUnit.flowLabel(wqe, at), 5));
    }
    return unit;
  }

  private static Shown key(int value) {
    return Shown.hex(value & 0xffff_ffffL, 8);
  }

  private void data(boolean receive) {
    while (has(DataUnit.SIZE)) {
      if (receive && DataUnit.isTerminator(wqe, at)) {
        terminated = true;
        return;
      }
      if (DataUnit.isInline(DataUnit.firstDword(wqe, at))) {
        int length = InlineUnit.length(wqe, at);
        long room = wqe.byteSize() - at - InlineUnit.HEADER_SIZE;
        byte[] bytes =
            wqe.asSlice(at + InlineUnit.HEADER_SIZE, Math.min(length, room))
                .toArray(ValueLayout.JAVA_BYTE);
        add(
            unit("inline").put("length", length).put("bytes", HexFormat.of().formatHex(bytes)),
            InlineUnit.units(bytes.length) * DataUnit.SIZE);
        continue;
      }
      Element element =
          new Element(
              DataUnit.lkey(wqe, at), DataUnit.address(wqe, at), DataUnit.byteCount(wqe, at));
      elements.add(element);
      add(
          unit("data")
              .put("byte_cnt", element.bytes())
              .put("lkey", key(element.lkey()))
              .put("addr", Shown.hex(element.address(), 1)),
          DataUnit.SIZE);
    }
  }
}
