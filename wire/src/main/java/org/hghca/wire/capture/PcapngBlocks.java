package org.hghca.wire.capture;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.hghca.wire.frame.FrameLayout;

/**
 * The blocks of a pcapng file with one interface, little-endian (draft-ietf-opsawg-pcapng, section
 * 4). Every block begins with its type and its length, and ends with its length; options are padded
 * to 4 bytes, and none of code 0 ends them.
 *
 * <pre>
 * section     byte order, version 1.0, section length unknown; options
 * interface   link type (2 bytes), reserved, longest frame; options
 * packet      interface, time (high, low), captured length, length, frame; options
 * statistics  interface, time (high, low); options
 * </pre>
 */
final class PcapngBlocks {
  static final int SECTION = 0x0a0d0d0a;
  static final int INTERFACE = 1;

  /** What was written before {@link #PACKET}. */
  static final int OBSOLETE_PACKET = 2;

  static final int SIMPLE_PACKET = 3;
  static final int NAMES = 4;
  static final int STATISTICS = 5;
  static final int PACKET = 6;

  /** Keys of encrypted protocols. */
  static final int SECRETS = 10;

  static final int BYTE_ORDER = 0x1a2b3c4d;
  static final int VERSION = 1;
  static final int ETHERNET = 1;

  /** Bytes of a block beside its body. */
  static final int AROUND_BODY = 12;

  static final int END_OF_OPTIONS = 0;
  static final int INTERFACE_NAME = 2;
  static final int INTERFACE_MAC = 6;
  static final int INTERFACE_RESOLUTION = 9;
  static final int INTERFACE_OFFSET = 14;
  static final int PACKET_FLAGS = 2;

  /** The bits of a packet's flags that hold its direction. */
  static final int DIRECTION_MASK = 3;

  static final int INBOUND = 1;
  static final int OUTBOUND = 2;

  private static final int WRITER = 4;
  private static final int STARTED = 2;
  private static final int ENDED = 3;
  private static final int RECEIVED = 4;
  private static final int DROPPED = 5;

  /** Ten to the power of minus this is the unit of time: nanoseconds. */
  private static final byte NANOSECONDS = 9;

  /** From the start of a packet's block to its frame. */
  static final int PACKET_HEAD = 28;

  /** Behind a frame and its padding: flags, end of options, length. */
  private static final int PACKET_TAIL = 16;

  /** Bytes of the longest block of a packet. */
  static final int MAX_PACKET = PACKET_HEAD + (FrameLayout.MAX_FRAME + 3 & ~3) + PACKET_TAIL;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private PcapngBlocks() {}

  /**
   * The section and its interface, which start a file.
   *
   * @param name of the interface
   * @param mac its address
   */
  static ByteBuffer head(String name, long mac) {
    byte[] writer = "hghca".getBytes(StandardCharsets.UTF_8);
    byte[] named = name.getBytes(StandardCharsets.UTF_8);
    ByteBuffer out = buffer(128 + padded(writer.length) + padded(named.length));
    out.putInt(SECTION).putInt(0).putInt(BYTE_ORDER);
    out.putShort((short) VERSION).putShort((short) 0).putLong(-1);
    option(out, WRITER, writer);
    end(out, 0);
    int at = out.position();
    out.putInt(INTERFACE).putInt(0).putShort((short) ETHERNET).putShort((short) 0).putInt(0);
    option(out, INTERFACE_NAME, named);
    byte[] address = new byte[6];
    for (int i = 0; i < address.length; i++) {
      address[i] = (byte) (mac >>> 40 - 8 * i);
    }
    option(out, INTERFACE_MAC, address);
    option(out, INTERFACE_RESOLUTION, NANOSECONDS);
    end(out, at);
    return out.flip();
  }

  /**
   * Counts of the packets of the interface, which end a file.
   *
   * @param received packets that were to be captured
   * @param dropped those of them that are not in the file
   */
  static ByteBuffer statistics(long started, long ended, long received, long dropped) {
    ByteBuffer out = buffer(128);
    out.putInt(STATISTICS).putInt(0).putInt(0);
    time(out, ended);
    out.putShort((short) STARTED).putShort((short) 8);
    time(out, started);
    out.putShort((short) ENDED).putShort((short) 8);
    time(out, ended);
    out.putShort((short) RECEIVED).putShort((short) 8).putLong(received);
    out.putShort((short) DROPPED).putShort((short) 8).putLong(dropped);
    end(out, 0);
    return out.flip();
  }

  /**
   * Writes the parts around the frame of a packet. Allocates nothing.
   *
   * @param at offset of the block; the frame is {@link #PACKET_HEAD} bytes behind
   * @param length of the frame
   * @param direction {@link #INBOUND} or {@link #OUTBOUND}
   * @return the length of the block
   */
  static int packet(MemorySegment memory, int at, long time, int length, int direction) {
    int block = PACKET_HEAD + padded(length) + PACKET_TAIL;
    memory.set(INT, at, PACKET);
    memory.set(INT, at + 4, block);
    memory.set(INT, at + 8, 0);
    memory.set(INT, at + 12, (int) (time >>> 32));
    memory.set(INT, at + 16, (int) time);
    memory.set(INT, at + 20, length);
    memory.set(INT, at + 24, length);
    int frame = at + PACKET_HEAD;
    for (int pad = length; pad < padded(length); pad++) {
      memory.set(ValueLayout.JAVA_BYTE, frame + pad, (byte) 0);
    }
    int tail = frame + padded(length);
    memory.set(INT, tail, 4 << 16 | PACKET_FLAGS);
    memory.set(INT, tail + 4, direction);
    memory.set(INT, tail + 8, END_OF_OPTIONS);
    memory.set(INT, tail + 12, block);
    return block;
  }

  private static ByteBuffer buffer(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static void time(ByteBuffer out, long time) {
    out.putInt((int) (time >>> 32)).putInt((int) time);
  }

  private static void option(ByteBuffer out, int code, byte... value) {
    out.putShort((short) code).putShort((short) value.length).put(value);
    out.put(new byte[padded(value.length) - value.length]);
  }

  /** Ends the block that starts at an offset. */
  private static void end(ByteBuffer out, int at) {
    out.putInt(END_OF_OPTIONS);
    int length = out.position() + 4 - at;
    out.putInt(length).putInt(at + 4, length);
  }

  static int padded(int length) {
    return length + 3 & ~3;
  }
}
