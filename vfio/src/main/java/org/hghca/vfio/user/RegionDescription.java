package org.hghca.vfio.user;

import java.util.ArrayList;
import java.util.List;
import org.hghca.linux.SystemCalls;
import org.hghca.vfio.user.UserStructures.RegionInfo;
import org.hghca.vfio.user.UserStructures.SparseAreas;

/**
 * A region as the server describes it.
 *
 * @param size in bytes, 0 where there is none
 * @param offset of the region in its file
 * @param areas those that can be mapped; empty where none can
 * @param descriptor of the file, -1 where there is none; the owner closes it
 */
record RegionDescription(long size, long offset, List<Area> areas, int descriptor) {

  /** A part of a region, in bytes from its start. */
  record Area(long offset, long length) {}

  /** Room for more than a hundred areas; a description with more areas reports its size. */
  private static final int FIRST_REPLY = 4096;

  private static final int LONGEST_REPLY = 0x1_0000;

  private static final int READ_WRITE_MMAP =
      RegionInfo.FLAG_READ | RegionInfo.FLAG_WRITE | RegionInfo.FLAG_MMAP;

  /** A reply, which may be cut short. */
  private record Answer(int needed, RegionDescription description) {}

  static RegionDescription ask(UserConnection connection, SystemCalls system, int index) {
    Answer answer = ask(connection, index, FIRST_REPLY);
    if (answer.needed > FIRST_REPLY) {
      answer.description.closeDescriptor(system);
      answer = ask(connection, index, LONGEST_REPLY);
    }
    return answer.description;
  }

  private static Answer ask(UserConnection connection, int index, int room) {
    return connection.call(
        UserCommand.DEVICE_GET_REGION_INFO,
        RegionInfo.BYTES,
        message -> {
          message.putInt(RegionInfo.ARGSZ, room);
          message.putInt(RegionInfo.FLAGS, 0);
          message.putInt(RegionInfo.INDEX, index);
          message.putInt(RegionInfo.CAP_OFFSET, 0);
          message.putLong(RegionInfo.LENGTH, 0);
          message.putLong(RegionInfo.OFFSET, 0);
        },
        1,
        reply -> read(reply, index, room));
  }

  private static Answer read(UserMessage reply, int index, int room) {
    UserConnection.checkReply(reply, RegionInfo.BYTES);
    int needed = reply.getInt(RegionInfo.ARGSZ);
    int flags = reply.getInt(RegionInfo.FLAGS);
    long size = reply.getLong(RegionInfo.LENGTH);
    long offset = reply.getLong(RegionInfo.OFFSET);
    if (reply.getInt(RegionInfo.INDEX) != index || size < 0) {
      throw UserConnection.malformed(
          "region %d was requested, and it describes region %d of 0x%x bytes"
              .formatted(index, reply.getInt(RegionInfo.INDEX), size));
    }
    if (needed > LONGEST_REPLY) {
      throw UserConnection.malformed(
          "the description of region %d takes %d bytes".formatted(index, needed));
    }
    boolean whole = needed <= room;
    List<Area> areas = List.of();
    // An area that can only be mapped for reading is not mapped: a store would end the process.
    if (whole && size > 0 && (flags & READ_WRITE_MMAP) == READ_WRITE_MMAP) {
      areas = areas(reply, flags, size);
    }
    int descriptor = areas.isEmpty() || reply.descriptors() == 0 ? -1 : reply.take(0);
    return new Answer(
        needed,
        new RegionDescription(size, offset, descriptor < 0 ? List.of() : areas, descriptor));
  }

  /** The areas in the capabilities, or the whole region if there are none. */
  private static List<Area> areas(UserMessage reply, int flags, long size) {
    int at = (flags & RegionInfo.FLAG_CAPS) != 0 ? reply.getInt(RegionInfo.CAP_OFFSET) : 0;
    int before = RegionInfo.BYTES - 1;
    while (at != 0) {
      if (at <= before || at > reply.payloadBytes() - SparseAreas.COUNT) {
        throw UserConnection.malformed("a capability of a region at %d".formatted(at));
      }
      if (reply.getShort(at + SparseAreas.ID) == SparseAreas.SPARSE_MMAP) {
        return sparse(reply, at, size);
      }
      before = at;
      at = reply.getInt(at + SparseAreas.NEXT);
    }
    return List.of(new Area(0, size));
  }

  private static List<Area> sparse(UserMessage reply, int at, long size) {
    int first = at + SparseAreas.AREAS;
    int count = first <= reply.payloadBytes() ? reply.getInt(at + SparseAreas.COUNT) : -1;
    if (count < 0 || count > (reply.payloadBytes() - first) / SparseAreas.AREA_BYTES) {
      throw UserConnection.malformed("%d areas of a region".formatted(count));
    }
    List<Area> areas = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int area = first + i * SparseAreas.AREA_BYTES;
      long offset = reply.getLong(area + SparseAreas.AREA_OFFSET);
      long length = reply.getLong(area + SparseAreas.AREA_LENGTH);
      if (offset < 0 || length < 0 || offset > size - length) {
        throw UserConnection.malformed(
            "an area of 0x%x bytes at 0x%x in a region of 0x%x".formatted(length, offset, size));
      }
      areas.add(new Area(offset, length));
    }
    return areas;
  }

  void closeDescriptor(SystemCalls system) {
    if (descriptor >= 0) {
      system.close(descriptor);
    }
  }
}
