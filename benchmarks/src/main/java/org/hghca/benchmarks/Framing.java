package org.hghca.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketPool;
import org.hghca.wire.frame.FrameDecoder;
import org.hghca.wire.frame.FrameEncoder;
import org.hghca.wire.frame.FrameLayout;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/** A packet becomes a frame, and the frame a packet; for comparison, the two CRCs alone. */
public class Framing extends TimedPath {
  private static final int WRITE_MIDDLE = 0x07;
  private static final int SEND_ONLY = 0x04;
  private static final int IP = 14;
  private static final int CRC = 4;

  /** Bytes of payload: 1024 of a middle RDMA WRITE packet, 16 of a SEND of one packet. */
  @Param({"16", "1024"})
  private int payload;

  @Param({"4", "6"})
  private int ip;

  private final MemorySegment memory = Arena.ofAuto().allocate(FrameLayout.MAX_FRAME, 64);
  private final ByteBuffer bytes = memory.asByteBuffer();
  private final FrameEncoder encoder = new FrameEncoder(memory);
  private final FrameDecoder decoder = new FrameDecoder(memory);
  private final PacketPool pool = new PacketPool();
  private final Packet sent = pool.take();
  private final Packet received = pool.take();
  private final CRC32 crc = new CRC32();
  private int length;

  @Setup
  public void fill() {
    sent.sourceMac = 0x0200_0000_0001L;
    sent.destinationMac = 0x0200_0000_0002L;
    if (ip == 4) {
      sent.sourceIpv4(0x0a00_0001);
      sent.destinationIpv4(0x0a00_0002);
    } else {
      sent.sourceIpHigh = 0xfe80_0000_0000_0000L;
      sent.sourceIpLow = 1;
      sent.destinationIpHigh = 0xfe80_0000_0000_0000L;
      sent.destinationIpLow = 2;
    }
    sent.opcode = payload == 16 ? SEND_ONLY : WRITE_MIDDLE;
    sent.destinationQpn = 0x123;
    sent.length = payload;
    sent.payload().fill((byte) 0x5a);
    if (!encodeAndDecode()) {
      throw new IllegalStateException(decoder.cause().toString());
    }
  }

  @Benchmark
  public boolean encodeAndDecode() {
    sent.psn = sent.psn + 1 & 0xff_ffff;
    length = encoder.encode(sent, 0);
    return decoder.decode(0, length, received);
  }

  @Benchmark
  public long twoCrcs() {
    long first = crc();
    return first + crc();
  }

  private long crc() {
    bytes.limit(length - CRC).position(IP);
    crc.reset();
    crc.update(bytes);
    return crc.getValue();
  }
}
