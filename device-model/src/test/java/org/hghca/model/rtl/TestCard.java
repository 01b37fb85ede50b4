package org.hghca.model.rtl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.hghca.abi.Cqe;
import org.hghca.abi.DataUnit;
import org.hghca.abi.Doorbell;
import org.hghca.abi.NextUnit;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.UdUnit;
import org.hghca.model.card.Faults;
import org.hghca.model.rtl.r1.Defect;
import org.hghca.model.rtl.r1.R1Engine;
import org.hghca.model.rtl.r2.R2Engine;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.PacketPool;

/**
 * An engine with contexts and memory in Java objects. Queue pair n has its queues in the regions of
 * the keys SQ + n and RQ + n, and completion queues n and RCQ + n; all else is in one region.
 */
final class TestCard implements Translation, Contexts {
  static final int PD = 1;
  static final int QUEUE = 4096;
  static final int SLOT = 64;
  static final int SQ = 0x100;
  static final int RQ = 0x200;
  static final int RCQ = 0x40;
  static final int CQ_KEY = 0x300;
  static final int DATA = 0x99;
  static final long BASE = 0x7f00_0000_0000L;
  static final int DATA_SIZE = 0x4_0000;

  private static final ValueLayout.OfInt CONTROL =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** A data unit; the address counts from the region's start. */
  record Sge(int key, long offset, int length) {}

  private record Region(long start, long at, long length, int flags) {}

  /** QPNs whose image in ICM the card wrote by itself. */
  final List<Integer> writtenBack = new ArrayList<>();

  final MemorySegment memory = Arena.ofAuto().allocate(0x20_0000, 4096);
  final Hazards hazards = new Hazards();
  final Doorbells doorbells = new Doorbells(new Faults(), hazards);
  final EthernetPort port;
  final DataPath engine;
  private final Map<Integer, Region> regions = new HashMap<>();
  private final Map<Integer, OnChipQp> queuePairs = new HashMap<>();
  private final Map<Integer, OnChipCq> completionQueues = new HashMap<>();
  private final Map<Integer, Integer> sendSlots = new HashMap<>();
  private final Map<Integer, Integer> receiveSlots = new HashMap<>();
  private long nextQueue = DATA_SIZE;

  TestCard(long mac, PacketPool pool, Set<Defect> defects) {
    port = new EthernetPort(mac, pool);
    engine = new R1Engine(parts(), defects);
    regions.put(DATA, new Region(BASE, 0, DATA_SIZE, 7));
  }

  /** A card of the second RTL. */
  TestCard(long mac, PacketPool pool, long seed) {
    port = new EthernetPort(mac, pool);
    engine = new R2Engine(parts(), seed);
    regions.put(DATA, new Region(BASE, 0, DATA_SIZE, 7));
  }

  private CardParts parts() {
    return new CardParts(this, this, doorbells, port, hazards);
  }

  /** A region over the first page of the data region with other rights. */
  void register(int key, int flags) {
    regions.put(key, new Region(BASE, 0, 4096, flags));
  }

  /** Makes a region end earlier. */
  void shrink(int key, int length) {
    Region region = regions.get(key);
    regions.put(key, new Region(region.start, region.at, length, region.flags));
  }

  /** Sets the key of a completion queue to another value. */
  void moveKey(int cqn, int key) {
    regions.put(key, regions.get(CQ_KEY + cqn));
    completionQueue(cqn).key = key;
  }

  OnChipQp connect(int qpn, int service, long peerMac, int peer) {
    OnChipQp qp = queuePair(qpn);
    qp.programmed = true;
    qp.state = QpcState.RTS;
    qp.service = service;
    qp.mtu = 1024;
    qp.receiveStrideLog = 6;
    qp.sendStrideLog = 6;
    qp.localQpn = qpn;
    qp.remoteQpn = peer;
    qp.destinationMac = peerMac;
    qp.pd = PD;
    qp.nextSendPsn = 0x100;
    qp.oldestUnackedPsn = 0x100;
    qp.expectedPsn = 0x100;
    qp.sendCqn = qpn;
    qp.sendKey = SQ + qpn;
    qp.sendLength = QUEUE;
    qp.receiveCqn = RCQ + qpn;
    qp.receiveKey = RQ + qpn;
    qp.receiveLength = QUEUE;
    queue(SQ + qpn, 0);
    queue(RQ + qpn, 0);
    completionQueue(qpn, CQ_KEY + qpn);
    completionQueue(RCQ + qpn, CQ_KEY + RCQ + qpn);
    return qp;
  }

  private void queue(int key, int fill) {
    memory.asSlice(nextQueue, QUEUE).fill((byte) fill);
    regions.put(key, new Region(0, nextQueue, QUEUE, 1));
    nextQueue += QUEUE;
  }

  private void completionQueue(int cqn, int key) {
    queue(key, 0xff);
    OnChipCq queue = completionQueue(cqn);
    queue.owned = true;
    queue.logSize = 4;
    queue.pd = PD;
    queue.key = key;
  }

  private MemorySegment slot(int key, int slot) {
    return memory.asSlice(regions.get(key).at + (long) SLOT * slot, SLOT);
  }

  /** Writes a send WQE into the next slot and rings for it. */
  void post(int qpn, int opcode, Sge remote, Sge... sges) {
    int slot = write(qpn, remote, sges);
    int units = 1 + (remote == null ? 0 : 1) + sges.length;
    slot(SQ + qpn, slot).set(CONTROL, NextUnit.CONTROL_OFFSET, NextUnit.control(opcode, units, 1));
    ringDoorbell(qpn, opcode, slot, units);
  }

  int write(int qpn, Sge remote, Sge... sges) {
    int slots = queuePair(qpn).sendLength / SLOT;
    int slot = (sendSlots.merge(qpn, 1, Integer::sum) - 1) % slots;
    MemorySegment wqe = slot(SQ + qpn, slot).fill((byte) 0);
    NextUnit.write(wqe, 0, 0, 0, 0, 0xdeadbeef);
    long at = NextUnit.SIZE;
    if (remote != null) {
      RemoteAddressUnit.write(wqe, at, BASE + remote.offset, remote.key);
      at += RemoteAddressUnit.SIZE;
    }
    writeAll(wqe, at, sges);
    return slot;
  }

  /** Writes a send WQE of several slots into the first ones and rings for it. */
  void postWide(int qpn, int opcode, Sge remote, Sge... sges) {
    int units = 2 + sges.length;
    MemorySegment wqe = memory.asSlice(regions.get(SQ + qpn).at, 16L * units).fill((byte) 0);
    RemoteAddressUnit.write(wqe, NextUnit.SIZE, BASE + remote.offset, remote.key);
    writeAll(wqe, NextUnit.SIZE + RemoteAddressUnit.SIZE, sges);
    ringDoorbell(qpn, opcode, 0, units);
  }

  /** The WQE in a slot of a send queue. */
  MemorySegment sendSlot(int qpn, int slot) {
    return slot(SQ + qpn, slot);
  }

  /** A datagram of one data unit, in two slots. */
  void datagram(int qpn, int opcode, long mac, int peer, Sge sge) {
    int slot = sendSlots.merge(qpn, 2, Integer::sum) - 2;
    MemorySegment wqe = memory.asSlice(regions.get(SQ + qpn).at + (long) SLOT * slot, 2 * SLOT);
    UdUnit.write(wqe, NextUnit.SIZE, 1, 0, mac, 0, 7, peer, 0x1234);
    writeAll(wqe, NextUnit.SIZE + UdUnit.SIZE, sge);
    ringDoorbell(qpn, opcode, slot, 5);
  }

  void ringDoorbell(int qpn, int opcode, int slot, int units) {
    doorbells.add(Doorbell.sendQueue(qpn, units, slot * SLOT / 16, 0, opcode));
  }

  /** Links the WQE of a slot to that of another. */
  void link(int queueKey, int slot, int next, int opcode, int units) {
    NextUnit.link(slot(queueKey, slot), 0, next * SLOT / 16, opcode, units, 0);
  }

  int receive(int qpn, Sge... sges) {
    int slot = receiveSlots.merge(qpn, 1, Integer::sum) - 1;
    receiveAt(qpn, SLOT * slot, sges);
    return slot;
  }

  /** The WQE in a slot of a receive queue. */
  MemorySegment receiveSlot(int qpn, int slot) {
    return slot(RQ + qpn, slot);
  }

  /** Posts a receive at a byte offset, whatever the stride is. */
  void receiveAt(int qpn, int offset, Sge... sges) {
    MemorySegment wqe = memory.asSlice(regions.get(RQ + qpn).at + offset, 512);
    wqe.asSlice(0, 16L * (sges.length + 2)).fill((byte) 0);
    writeAll(wqe, NextUnit.SIZE, sges);
    int control = NextUnit.control(0, sges.length + 2, NextUnit.MARKER);
    NextUnit.write(wqe, 0, NextUnit.ADDRESS_MARKER, 0, control, 0);
  }

  private static void writeAll(MemorySegment wqe, long start, Sge... sges) {
    long at = start;
    for (Sge sge : sges) {
      DataUnit.write(wqe, at, sge.length, sge.key, BASE + sge.offset);
      at += DataUnit.SIZE;
    }
  }

  void put(long offset, String text) {
    memory
        .asSlice(offset, text.length())
        .copyFrom(MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII)));
  }

  String text(long offset, int length) {
    return new String(
        memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
  }

  /** CQEs of a queue in hexadecimal, without the parts that hold only zeros at both ends. */
  List<String> cqes(int cqn) {
    List<String> entries = new ArrayList<>();
    long at = regions.get(completionQueue(cqn).key).at;
    for (; (memory.get(ValueLayout.JAVA_BYTE, at + Cqe.OWNER_OFFSET)) == 0; at += Cqe.SIZE) {
      entries.add(
          HexFormat.of().formatHex(memory.asSlice(at, Cqe.SIZE).toArray(ValueLayout.JAVA_BYTE)));
    }
    return entries;
  }

  /** Part of a completion queue from a byte offset on. */
  MemorySegment entry(int cqn, long offset) {
    return entry(cqn, offset, Cqe.SIZE);
  }

  MemorySegment entry(int cqn, long offset, int length) {
    return memory.asSlice(regions.get(completionQueue(cqn).key).at + offset, length);
  }

  /** The results of a queue pair's sends: the last dword and byte 13h of each CQE. */
  List<String> sends(int qpn) {
    return cqes(qpn).stream().map(e -> e.substring(56) + " " + e.substring(38, 40)).toList();
  }

  int receives(int qpn) {
    return cqes(RCQ + qpn).size();
  }

  @Override
  public OnChipQp queuePair(int qpn) {
    return queuePairs.computeIfAbsent(qpn & 0x1fff, OnChipQp::new);
  }

  @Override
  public OnChipCq completionQueue(int cqn) {
    return completionQueues.computeIfAbsent(cqn, OnChipCq::new);
  }

  @Override
  public void writeBack(int qpn) {
    writtenBack.add(qpn);
  }

  @Override
  public int check(int key, int pd, long address, long length, int flags) {
    Region region = regions.get(key);
    return region == null ? WRONG_KEY : checkQueue(key, pd, address - region.start, length, flags);
  }

  @Override
  public int checkQueue(int key, int pd, long offset, long length, int flags) {
    Region region = regions.get(key);
    if (region == null) {
      return WRONG_KEY;
    }
    return (pd == PD ? OK : WRONG_PD)
        | ((region.flags & flags) == flags ? OK : WRONG_FLAGS)
        | (offset >= 0 && offset + length <= region.length ? OK : WRONG_LENGTH);
  }

  @Override
  public void read(int key, long address, MemorySegment target, long at, int length) {
    readQueue(key, address - regions.get(key).start, target, at, length);
  }

  @Override
  public void write(int key, long address, MemorySegment source, long at, int length) {
    writeQueue(key, address - regions.get(key).start, source, at, length);
  }

  @Override
  public void readQueue(int key, long offset, MemorySegment target, long at, int length) {
    MemorySegment.copy(memory, regions.get(key).at + offset, target, at, length);
  }

  @Override
  public void writeQueue(int key, long offset, MemorySegment source, long at, int length) {
    MemorySegment.copy(source, at, memory, regions.get(key).at + offset, length);
  }

  static int service(String name) {
    return switch (name) {
      case "RC" -> QpcServiceType.RC;
      case "UC" -> QpcServiceType.UC;
      default -> QpcServiceType.UD;
    };
  }
}
