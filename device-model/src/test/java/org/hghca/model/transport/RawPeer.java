package org.hghca.model.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Medium;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;

/**
 * The other end of a station's line, without a transport: it records the station's packets, and
 * gives it packets of the test, with the fields as Soft-RoCE of Linux sends them.
 */
final class RawPeer implements Medium {
  private static final long STATION = 0x0200_0000_0001L;
  private static final long PEER = 0x0200_0000_0002L;

  /** A packet that the station has sent. */
  record Came(
      int opcode,
      int psn,
      boolean ackRequest,
      int length,
      long address,
      int dmaLength,
      int syndrome,
      int msn,
      long original,
      int trafficClass) {}

  final PacketPool pool = new PacketPool();
  final Station station;
  long now;

  /** Whether the station's next step is that of a thread that polls and has got one packet. */
  boolean sendsSoon;

  /** Whether an acknowledgement was said to wait. */
  boolean isOwed;

  private final List<Came> came = new ArrayList<>();

  RawPeer(Service service) {
    station = new Station(service, STATION, PEER, pool, Line.BURST);
    station.port.plug(this);
    // Renewed, as a queue pair requests the window from the medium at its start.
    station.transport.reset(Station.QPN);
    station.transport.modified(Station.QPN, QueuePairState.RTS);
  }

  @Override
  public boolean isUp() {
    return true;
  }

  @Override
  public boolean sendsSoon() {
    return sendsSoon;
  }

  @Override
  public void holds() {
    isOwed = true;
  }

  @Override
  public int window() {
    return 128;
  }

  @Override
  public void carry(EthernetPort from, Packet packet) {
    came.add(
        new Came(
            packet.opcode,
            packet.psn,
            packet.ackRequest,
            packet.length,
            packet.remoteAddress,
            packet.dmaLength,
            packet.syndrome,
            packet.msn,
            packet.original,
            packet.trafficClass));
    pool.giveBack(packet);
  }

  /** The station runs until it needs time to pass. */
  RawPeer run() {
    while (station.step(now)) {
      // until it rests
    }
    return this;
  }

  /** Time advances to the station's next timer, which expires. */
  RawPeer pass() {
    now = Math.max(now, station.transport.nextDeadline());
    return run();
  }

  /** Gives the station a packet, which it processes when it runs. */
  RawPeer queue(int opcode, int psn, Consumer<Packet> fields) {
    Packet packet = pool.take();
    packet.destinationMac = STATION;
    packet.sourceMac = PEER;
    packet.migrated = false;
    packet.destinationQpn = Station.QPN;
    packet.opcode = opcode;
    packet.psn = psn;
    packet.remoteAddress = 0;
    packet.remoteKey = Station.KEY;
    packet.dmaLength = 0;
    packet.syndrome = 0x1f;
    packet.msn = 0;
    packet.immediate = 0;
    fields.accept(packet);
    station.port.deliver(packet);
    return this;
  }

  /** Gives the station a packet that it answers at once. */
  RawPeer give(int opcode, int psn, Consumer<Packet> fields) {
    return queue(opcode, psn, fields).run();
  }

  /** An ACK or a NAK. */
  RawPeer answer(int syndrome, int psn) {
    return give(0x11, psn, packet -> packet.syndrome = syndrome);
  }

  /** A READ response of so many bytes. */
  RawPeer data(int opcode, int psn, int length) {
    return give(opcode, psn, packet -> packet.length = length);
  }

  /** The packets that the station has sent since the last call. */
  List<Came> sent() {
    List<Came> sent = List.copyOf(came);
    came.clear();
    return sent;
  }

  /** The PSNs of the packets that the station has sent since the last call. */
  List<Integer> psns() {
    return sent().stream().map(Came::psn).toList();
  }
}
