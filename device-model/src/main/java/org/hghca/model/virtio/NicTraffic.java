package org.hghca.model.virtio;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.hghca.model.card.HostMemory;
import org.hghca.model.transport.TransportCounters;
import org.hghca.virtio.abi.net.NetHeader;
import org.hghca.wire.DropCause;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Packet;
import org.hghca.wire.frame.EthernetDecoder;
import org.hghca.wire.frame.EthernetEncoder;

/**
 * Copies frames between the queues of a NIC and its port. Offloads are not offered: a frame that
 * asks for one is dropped. Used in steps of the card.
 */
final class NicTraffic {
  private final HostMemory host;
  private final EthernetPort port;
  private final TransportCounters counters;

  /** A frame behind its header. */
  private final MemorySegment frame = Arena.ofAuto().allocate(NetHeader.SIZE + Packet.MAX_FRAME, 8);

  private final EthernetDecoder decoder = new EthernetDecoder(frame);
  private final EthernetEncoder encoder = new EthernetEncoder(frame);

  NicTraffic(HostMemory host, EthernetPort port, TransportCounters counters) {
    this.host = host;
    this.port = port;
    this.counters = counters;
  }

  /** Sends the frame of a chain. */
  void send(Chain chain) throws QueueException {
    long length = chain.readableBytes();
    if (length > frame.byteSize() || length < NetHeader.SIZE) {
      counters.drops.count(DropCause.TRUNCATED);
      return;
    }
    chain.read(host, 0, frame, length);
    if (NetHeader.FLAGS.get(frame, 0) != 0 || NetHeader.GSO_TYPE.get(frame, 0) != 0) {
      counters.drops.count(DropCause.UNSUPPORTED);
      return;
    }
    Packet packet = port.pool().take();
    if (decoder.decode(NetHeader.SIZE, (int) length - NetHeader.SIZE, packet)) {
      counters.packetsSent++;
      port.transmitOut(packet);
    } else {
      counters.drops.count(decoder.cause());
      port.pool().giveBack(packet);
    }
  }

  /**
   * Writes a received packet as a frame.
   *
   * @return the bytes that were written into the chain; 0 when the frame does not fit, or the
   *     packet has none
   */
  int receive(Packet packet, Chain chain) throws QueueException {
    int length = encoder.encode(packet, NetHeader.SIZE);
    if (length == 0) {
      counters.drops.count(DropCause.IP_ADDRESS);
      return 0;
    }
    int bytes = NetHeader.SIZE + length;
    if (bytes > chain.writableBytes()) {
      counters.drops.count(DropCause.UNWANTED);
      return 0;
    }
    frame.asSlice(0, NetHeader.SIZE).fill((byte) 0);
    NetHeader.BUFFERS.set(frame, 0, 1);
    chain.write(host, 0, frame, bytes);
    counters.packetsReceived++;
    return bytes;
  }
}
