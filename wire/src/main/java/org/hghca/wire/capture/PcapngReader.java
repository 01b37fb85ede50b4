package org.hghca.wire.capture;

import static org.hghca.wire.capture.PcapngBlocks.*;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads pcapng: sections of either byte order, each with its interfaces; enhanced, simple and
 * obsolete packets. Other blocks are skipped, and counted unless it is known that they hold no
 * packets.
 */
final class PcapngReader implements FrameSource {
  /** An interface of the section. */
  private record Device(String name, int linkType, long longest, TimeUnits units) {}

  private final CaptureInput input;
  private final SkippedBlocks skipped;
  private final List<Device> devices = new ArrayList<>();

  PcapngReader(CaptureInput input, SkippedBlocks skipped) {
    this.input = input;
    this.skipped = skipped;
  }

  @Override
  public Optional<CapturedFrame> next() throws IOException {
    while (input.hasMore()) {
      ByteBuffer head = input.take(8);
      int type = head.getInt();
      if (type == SECTION) {
        section(head.getInt());
        continue;
      }
      long length = Integer.toUnsignedLong(head.getInt());
      switch (type) {
        case INTERFACE -> {
          device(body(length));
          trailer(length);
        }
        case PACKET, OBSOLETE_PACKET, SIMPLE_PACKET -> {
          ByteBuffer body = body(length);
          CapturedFrame frame =
              switch (type) {
                case PACKET -> packet(body);
                case OBSOLETE_PACKET -> obsoletePacket(body);
                default -> simplePacket(body);
              };
          trailer(length);
          return Optional.of(frame);
        }
        case NAMES, STATISTICS, SECRETS -> skip(length);
        default -> {
          skip(length);
          skipped.count(type);
        }
      }
    }
    return Optional.empty();
  }

  /**
   * Begins a section.
   *
   * @param read its length as it reads in the order before
   */
  private void section(int read) throws IOException {
    int mark = input.take(4).order(ByteOrder.BIG_ENDIAN).getInt();
    boolean isBig = mark == BYTE_ORDER;
    if (!isBig && mark != Integer.reverseBytes(BYTE_ORDER)) {
      throw input.wrong("a section without a byte order");
    }
    ByteOrder before = input.order();
    input.order(isBig ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    boolean same = before == input.order();
    long length = Integer.toUnsignedLong(same ? read : Integer.reverseBytes(read));
    check(length);
    if (length < AROUND_BODY + 16) {
      throw input.wrong("a section header of %d bytes".formatted(length));
    }
    int version = input.take(4).getShort();
    if (version != VERSION) {
      throw input.wrong("version %d of pcapng is not known".formatted(version));
    }
    input.skip(length - AROUND_BODY - 8);
    trailer(length);
    devices.clear();
  }

  private void check(long length) throws CaptureException {
    if (length < AROUND_BODY || (length & 3) != 0) {
      throw input.wrong("a block of %d bytes".formatted(length));
    }
  }

  private ByteBuffer body(long length) throws IOException {
    check(length);
    if (length > CaptureInput.MOST) {
      throw input.wrong("a block of %d bytes".formatted(length));
    }
    return input.take((int) length - AROUND_BODY);
  }

  private void skip(long length) throws IOException {
    check(length);
    input.skip(length - AROUND_BODY);
    trailer(length);
  }

  private void trailer(long length) throws IOException {
    long again = Integer.toUnsignedLong(input.take(4).getInt());
    if (again != length) {
      throw input.wrong("a block of %d bytes says %d at its end".formatted(length, again));
    }
  }

  private void device(ByteBuffer body) throws CaptureException {
    need(body, 8);
    int linkType = Short.toUnsignedInt(body.getShort());
    body.getShort();
    long longest = Integer.toUnsignedLong(body.getInt());
    String name = "";
    int resolution = TimeUnits.DEFAULT.resolution();
    long offset = TimeUnits.DEFAULT.offset();
    for (int code = option(body); code != END_OF_OPTIONS; code = option(body)) {
      ByteBuffer value = value(body);
      switch (code) {
        case INTERFACE_NAME -> name = StandardCharsets.UTF_8.decode(value).toString();
        case INTERFACE_RESOLUTION -> {
          need(value, 1);
          resolution = Byte.toUnsignedInt(value.get());
        }
        case INTERFACE_OFFSET -> {
          need(value, 8);
          offset = value.getLong();
        }
        default -> {}
      }
    }
    TimeUnits units = new TimeUnits(resolution, offset);
    if (!units.isKnown()) {
      throw input.wrong("time in units of number %d".formatted(resolution));
    }
    devices.add(new Device(name, linkType, longest, units));
  }

  private CapturedFrame packet(ByteBuffer body) throws IOException {
    need(body, 20);
    return packet(device(Integer.toUnsignedLong(body.getInt())), body);
  }

  /** A packet whose interface has 16 bits, in front of a count of lost packets. */
  private CapturedFrame obsoletePacket(ByteBuffer body) throws IOException {
    need(body, 20);
    Device device = device(Short.toUnsignedInt(body.getShort()));
    body.getShort();
    return packet(device, body);
  }

  private CapturedFrame packet(Device device, ByteBuffer body) throws IOException {
    long time = Integer.toUnsignedLong(body.getInt()) << 32;
    time |= Integer.toUnsignedLong(body.getInt());
    long captured = Integer.toUnsignedLong(body.getInt());
    long length = Integer.toUnsignedLong(body.getInt());
    byte[] bytes = input.frame(body, captured);
    body.position(Math.min(padded(body.position()), body.limit()));
    Direction direction = Direction.UNKNOWN;
    for (int code = option(body); code != END_OF_OPTIONS; code = option(body)) {
      ByteBuffer value = value(body);
      if (code == PACKET_FLAGS) {
        need(value, 4);
        direction = direction(value.getInt());
      }
    }
    return frame(device, device.units().time(time), direction, length, bytes);
  }

  private static Direction direction(int flags) {
    return switch (flags & DIRECTION_MASK) {
      case INBOUND -> Direction.IN;
      case OUTBOUND -> Direction.OUT;
      default -> Direction.UNKNOWN;
    };
  }

  /** A packet with nothing but its length, of the first interface. */
  private CapturedFrame simplePacket(ByteBuffer body) throws IOException {
    need(body, 4);
    Device device = device(0);
    long length = Integer.toUnsignedLong(body.getInt());
    long longest = device.longest() == 0 ? length : Math.min(length, device.longest());
    byte[] bytes = input.frame(body, longest);
    return frame(device, Optional.empty(), Direction.UNKNOWN, length, bytes);
  }

  private static CapturedFrame frame(
      Device device, Optional<Instant> time, Direction direction, long length, byte[] bytes) {
    return new CapturedFrame(
        time, direction, device.name(), device.linkType(), length, MemorySegment.ofArray(bytes));
  }

  private Device device(long number) throws CaptureException {
    if (number >= devices.size()) {
      throw input.wrong("a packet of interface %d, which is not described".formatted(number));
    }
    return devices.get((int) number);
  }

  /** The code of the next option, or that of their end. */
  private int option(ByteBuffer body) throws CaptureException {
    if (!body.hasRemaining()) {
      return END_OF_OPTIONS;
    }
    need(body, 4);
    return Short.toUnsignedInt(body.getShort());
  }

  /** The value of an option whose code was read. */
  private ByteBuffer value(ByteBuffer body) throws CaptureException {
    int length = Short.toUnsignedInt(body.getShort());
    need(body, padded(length));
    ByteBuffer value = body.slice(body.position(), length).order(body.order());
    body.position(body.position() + padded(length));
    return value;
  }

  private void need(ByteBuffer in, int bytes) throws CaptureException {
    if (in.remaining() < bytes) {
      throw input.wrong("a block or an option is too short for what it holds");
    }
  }
}
