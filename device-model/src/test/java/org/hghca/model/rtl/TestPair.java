package org.hghca.model.rtl;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import org.hghca.model.rtl.TestCard.Sge;
import org.hghca.model.rtl.r1.Defect;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Medium;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;

/** Two connected cards; queue pair 2 on each is under test, and pair 5 is an uninvolved one. */
final class TestPair implements Medium {
  static final long A = 0x0200_0000_0001L;
  static final long B = 0x0200_0000_0002L;
  static final int QPN = 2;
  static final int BYSTANDER = 5;

  final PacketPool pool = new PacketPool();
  final TestCard a;
  final TestCard b;

  /** Operations and PSNs of the packets, in order. */
  final List<String> packets = new ArrayList<>();

  /** PSNs and message sequence numbers of the responses, in order. */
  final List<String> numbers = new ArrayList<>();

  /** For each packet whether it requests an acknowledgement. */
  final List<Boolean> asked = new ArrayList<>();

  /** Decides by the number of each packet whether it is lost. */
  IntPredicate loses = number -> false;

  /** The time of the cards, in nanoseconds. */
  long now;

  private int count;

  TestPair(int service, Defect... defects) {
    a = new TestCard(A, pool, Set.of(defects));
    b = new TestCard(B, pool, Set.of(defects));
    connect(service);
  }

  /** Two cards of the second RTL. */
  TestPair(int service, long seed) {
    a = new TestCard(A, pool, seed);
    b = new TestCard(B, pool, seed + 1);
    connect(service);
  }

  private void connect(int service) {
    a.port.plug(this);
    b.port.plug(this);
    a.connect(QPN, service, B, QPN);
    b.connect(QPN, service, A, QPN);
    a.connect(BYSTANDER, 0, B, BYSTANDER);
    b.connect(BYSTANDER, 0, A, BYSTANDER);
  }

  /** A data unit in the region of all data. */
  static Sge data(long offset, int length) {
    return new Sge(TestCard.DATA, offset, length);
  }

  @Override
  public boolean isUp() {
    return true;
  }

  @Override
  public void carry(EthernetPort from, Packet packet) {
    if (packets.size() < 1000) {
      packets.add("%02x %x %02x".formatted(packet.opcode, packet.psn, packet.syndrome));
      asked.add(packet.ackRequest);
      if (PacketOpcode.isResponse(packet.opcode & PacketOpcode.OPERATION_MASK)) {
        numbers.add("%x %d".formatted(packet.psn, packet.msn));
      }
    }
    if (loses.test(count++)) {
      pool.giveBack(packet);
    } else {
      (from == a.port ? b : a).port.deliver(packet);
    }
  }

  void run() {
    boolean worked = true;
    while (worked) {
      worked = a.engine.step(now, 256);
      worked |= b.engine.step(now, 256);
    }
  }

  /** Whether an RDMA WRITE between the uninvolved queue pairs arrives and completes. */
  boolean passes(TestCard from, TestCard to) {
    int before = from.cqes(BYSTANDER).size();
    from.put(0x2_0000, "bystander");
    to.put(0x3_0000, ".........");
    from.post(BYSTANDER, 8, data(0x3_0000, 9), data(0x2_0000, 9));
    run();
    return from.cqes(BYSTANDER).size() == before + 1
        && from.cqes(BYSTANDER).getLast().endsWith("08010000")
        && to.text(0x3_0000, 9).equals("bystander");
  }

  boolean bothPass() {
    boolean forth = passes(a, b);
    return passes(b, a) && forth;
  }
}
