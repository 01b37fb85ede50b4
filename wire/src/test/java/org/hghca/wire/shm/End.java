package org.hghca.wire.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.hghca.linux.Linux;
import org.hghca.wire.IpAddress;
import org.hghca.wire.MemoryPieces;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PacketRun;
import org.hghca.wire.PortAddresses;

/** A member in a test, and what it has received. */
final class End implements Receiver, AutoCloseable {
  static final int LARGEST = 1 << 20;

  final Members members;
  final long address;
  final List<Packet> packets = new ArrayList<>();

  /** The payloads of the runs that were taken as runs. */
  final List<byte[]> runs = new ArrayList<>();

  /** What becomes of runs. */
  PacketRun.Outcome answer = PacketRun.Outcome.TAKEN;

  private final PacketPool pool = new PacketPool();

  End(int number) throws IOException {
    this(number, LARGEST);
  }

  End(int number, int largestRing) throws IOException {
    address = IpAddress.lowOfIpv4(0x0a00_0000 + number);
    members =
        new Members(
            Linux.system(), "test", number, PortAddresses.NONE.with(0, address), largestRing);
  }

  @Override
  public Packet packet() {
    return pool.take();
  }

  @Override
  public void take(Packet packet) {
    packets.add(packet);
  }

  @Override
  public PacketRun.Outcome take(PacketRun run) {
    if (answer == PacketRun.Outcome.TAKEN) {
      MemorySegment copy = Arena.ofAuto().allocate(run.bytes);
      MemoryPieces into = new MemoryPieces();
      into.add(copy, 0, run.bytes, MemoryPieces.Kind.STAYS);
      run.payload.copyTo(into);
      runs.add(copy.toArray(ValueLayout.JAVA_BYTE));
    }
    return answer;
  }

  /** A packet to another end, whose payload depends on the seed. */
  Packet to(End other, int opcode, int length, int seed) {
    Packet packet = pool.take();
    packet.opcode = opcode;
    packet.sourceIpLow = address;
    packet.destinationIpLow = other.address;
    packet.length = length;
    fill(packet.payload(), length, seed);
    return packet;
  }

  static void fill(MemorySegment memory, int length, int seed) {
    for (int i = 0; i < length; i++) {
      memory.set(ValueLayout.JAVA_BYTE, i, (byte) (seed * 31 + i * 7 + (i >> 8)));
    }
  }

  /** Receives until nothing more comes. */
  boolean receive() {
    members.attend();
    return members.receive(this);
  }

  @Override
  public void close() {
    members.close();
  }
}
