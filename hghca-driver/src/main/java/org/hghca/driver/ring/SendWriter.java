package org.hghca.driver.ring;

import static org.hghca.driver.ring.SendOpcodeTable.ATOMIC;
import static org.hghca.driver.ring.SendOpcodeTable.DATAGRAM;
import static org.hghca.driver.ring.SendOpcodeTable.HAS_REMOTE_ADDRESS;
import static org.hghca.driver.ring.SendOpcodeTable.INLINE;
import static org.hghca.driver.ring.SendOpcodeTable.NEVER_INLINE;
import static org.hghca.driver.ring.SendOpcodeTable.SPECIAL;

import java.lang.foreign.MemorySegment;
import org.hghca.abi.AtomicUnit;
import org.hghca.abi.DataUnit;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.InlineUnit;
import org.hghca.abi.NextUnit;
import org.hghca.abi.RemoteAddressUnit;
import org.hghca.abi.UdUnit;
import org.hghca.provider.Resource;
import org.hghca.verbs.BadRequestException;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePairCapabilities;
import org.hghca.verbs.SendRequest;
import org.hghca.verbs.WrOpcode;
import org.hghca.verbs.spi.ProviderAccess;
import org.hghca.vfio.direct.RingMemory;

/**
 * Writes send requests into the slots of a ring: each a work queue element of units of 16 bytes
 * (section 3.4). Invalid requests are refused.
 */
public final class SendWriter {
  private static final int UNIT = 16;
  private static final int UNIT_SHIFT = 4;

  /** First dword of a next unit that has no successor. */
  private static final int LAST = NextUnit.address(0, 0);

  private static final long MAX_MESSAGE = 1L << 31;
  private static final int ATOMIC_BYTES = 8;

  private final int variant;
  private final boolean datagrams;
  private final Resource pd;
  private final RingMemory memory;
  private final int qpn;
  private final int maxSge;
  private final int maxInline;
  private final int always;

  /**
   * A writer of a ring's slots, each of which holds the largest request.
   *
   * @param pd the required protection domain of datagram destinations
   * @param capabilities of the queue pair whose sends it writes
   * @param signalAll whether every request generates a completion
   */
  public SendWriter(
      QpType type,
      HardwareProfile profile,
      Resource pd,
      RingShape shape,
      QueuePairCapabilities capabilities,
      boolean signalAll) {
    this.variant = SendOpcodeTable.variant(type, profile);
    this.datagrams = type == QpType.UD;
    this.pd = pd;
    this.memory = shape.memory();
    this.qpn = shape.qpn();
    this.maxSge = Math.max(1, capabilities.maxSendSge()); // a slot always has room for one
    this.maxInline = capabilities.maxInline();
    this.always = signalAll ? SendOpcodeTable.SIGNALED : 0;
    shape.checkSlot(largest(type));
  }

  /** Bytes of the largest request that is written. */
  private int largest(QpType type) {
    int units = datagrams ? UdUnit.SIZE : RemoteAddressUnit.SIZE;
    int data = Math.max(maxSge, InlineUnit.units(maxInline)) * UNIT;
    int largest = UNIT + units + data;
    return type == QpType.RC ? Math.max(largest, 3 * UNIT + AtomicUnit.SIZE) : largest;
  }

  /** Whether the ring is of a UD queue pair. */
  public boolean isOfDatagrams() {
    return datagrams;
  }

  /** The part of {@link SendOpcodeTable} for its ring. */
  int variant() {
    return variant;
  }

  /** The flags of every operation of its ring. */
  int always() {
    return always;
  }

  /**
   * Writes an element, as the last of its chain; returns its size in units. Under the ring's lock,
   * while the ring is open.
   *
   * <p>The memory may be unchecked, and another thread may change the request meanwhile. So what
   * determines the number of bytes written is read once: the operation by the caller, the number of
   * elements here, and each length when its element is written.
   *
   * @param slot its offset in the ring
   */
  int write(SendRequest request, int operation, int index, long slot) {
    MemorySegment ring = memory.segment();
    int count = request.sgeCount();
    long offset = memory.at(slot);
    long at = offset + UNIT;
    if ((operation & HAS_REMOTE_ADDRESS) != 0) {
      RemoteAddressUnit.write(ring, at, request.remoteAddress(), request.rkey());
      at += UNIT;
    } else if ((operation & SPECIAL) != 0) {
      at = writeSpecial(ring, request, operation, count, index, at);
    }
    long end =
        (operation & INLINE) != 0
            ? writeInline(ring, request, count, index, at)
            : writeElements(ring, request, count, index, at);
    int size = (int) (end - offset >>> UNIT_SHIFT);
    NextUnit.write(
        ring,
        offset,
        LAST,
        SendOpcodeTable.next(operation),
        SendOpcodeTable.control(operation, size),
        request.immediate());
    return size;
  }

  /** Writes the units between next unit and data of an atomic or a datagram. */
  private long writeSpecial(
      MemorySegment ring, SendRequest request, int operation, int count, int index, long at) {
    if ((operation & DATAGRAM) == DATAGRAM) {
      return writeDestination(ring, request, operation, index, at);
    }
    if ((operation & ATOMIC) == ATOMIC) {
      return writeOperands(ring, request, operation, count, index, at);
    }
    throw unsupported(request.opcode().toString(), index);
  }

  @SuppressWarnings("ReferenceEquality") // a domain is itself
  private long writeDestination(
      MemorySegment ring, SendRequest request, int operation, int index, long at) {
    if (!(request.addressHandle() instanceof Destination to) || to.domain != pd || to.isClosed()) {
      throw badDestination(request, index);
    }
    if ((operation & NEVER_INLINE) != 0 && (operation & INLINE) != 0) {
      throw unsupported("inline data of a datagram", index);
    }
    UdUnit.write(
        ring,
        at,
        to.port,
        to.sourceMac,
        to.destinationMac,
        to.sourceIp,
        to.destinationIp,
        request.remoteQpn(),
        request.remoteQkey());
    if (to.path != 0) {
      writePath(ring, to, at);
    }
    return at + UdUnit.SIZE;
  }

  private static void writePath(MemorySegment ring, Destination to, long at) {
    if ((to.path & UdUnit.IPV6) != 0) {
      UdUnit.writeIpv6(ring, at, to.gidHigh, to.gidLow, to.path);
    }
    UdUnit.writePath(ring, at, to.path, to.flow);
  }

  private BadRequestException badDestination(SendRequest request, int index) {
    String complaint;
    if (request.addressHandle() == null) {
      complaint = "a datagram needs a destination: set it with SendRequest.to";
    } else if (!(request.addressHandle() instanceof Destination ours)) {
      complaint = "the address handle is not of this device";
    } else if (ours.isClosed()) {
      complaint = ours.describe() + " is closed";
    } else {
      complaint =
          "%s is of %s and QP 0x%06x of %s"
              .formatted(ours.describe(), ours.domain.describe(), qpn, pd.describe());
    }
    return new BadRequestException(Errno.EINVAL, index, complaint);
  }

  private long writeOperands(
      MemorySegment ring, SendRequest request, int operation, int count, int index, long at) {
    if ((operation & INLINE) != 0) {
      throw new BadRequestException(Errno.EINVAL, index, "an atomic cannot be inline");
    }
    if (count != 1 || request.sgeLength(0) != ATOMIC_BYTES) {
      throw new BadRequestException(
          Errno.EINVAL, index, "an atomic takes one element of 8 bytes, for the old value");
    }
    RemoteAddressUnit.write(ring, at, request.remoteAddress(), request.rkey());
    long operands = at + RemoteAddressUnit.SIZE;
    AtomicUnit.write(ring, operands, request.swapOrAdd(), request.compare());
    return operands + AtomicUnit.SIZE;
  }

  /** Writes data units and returns their end; empty ones are skipped: they name nothing. */
  private long writeElements(
      MemorySegment ring, SendRequest request, int count, int index, long at) {
    // The usual case without a loop, whose set-up would cost as much as the element itself.
    if (count == 1) {
      long element = ProviderAccess.get().lengthAndKey(request, 0);
      if ((int) element == 0) {
        return at;
      }
      DataUnit.write(ring, at, element, request.sgeAddress(0));
      return at + UNIT;
    }
    return writeList(ring, request, count, index, at);
  }

  private long writeList(MemorySegment ring, SendRequest request, int count, int index, long at) {
    if (count > maxSge) {
      throw tooManyElements(index, count);
    }
    long next = at;
    long total = 0;
    for (int i = 0; i < count; i++) {
      long element = ProviderAccess.get().lengthAndKey(request, i);
      int length = (int) element;
      if (length != 0) {
        DataUnit.write(ring, next, element, request.sgeAddress(i));
        next += UNIT;
        total += length;
      }
    }
    if (total > MAX_MESSAGE) {
      throw tooLong(index, total);
    }
    return next;
  }

  /** An inline unit; none if there are no bytes. */
  private long writeInline(MemorySegment ring, SendRequest request, int count, int index, long at) {
    if (request.opcode() == WrOpcode.RDMA_READ) {
      throw new BadRequestException(Errno.EINVAL, index, "an RDMA READ cannot be inline");
    }
    // The usual case without a loop, as in writing elements.
    long data = at + InlineUnit.HEADER_SIZE;
    int total =
        count == 1
            ? copy(ring, request, 0, index, data, maxInline)
            : copyAll(ring, request, count, index, data);
    if (total == 0) {
      return at;
    }
    InlineUnit.writeHeader(ring, at, total);
    return at + (long) InlineUnit.units(total) * UNIT;
  }

  private int copyAll(MemorySegment ring, SendRequest request, int count, int index, long at) {
    int total = 0;
    for (int i = 0; i < count; i++) {
      total += copy(ring, request, i, index, at + total, maxInline - total);
    }
    return total;
  }

  /**
   * Copies an element.
   *
   * @param left bytes that may still be written
   * @return number of bytes, at most those
   */
  private int copy(
      MemorySegment ring, SendRequest request, int element, int index, long at, int left) {
    int length = ProviderAccess.get().copyData(request, element, ring, at, left);
    if (length < 0) {
      throw new BadRequestException(
          Errno.EINVAL,
          index,
          "an element given by address alone cannot be inline: give the memory region");
    }
    if (length > left) {
      throw tooLongInline(index, bytes(request));
    }
    return length;
  }

  /** Bytes of the data of a request. */
  static long bytes(SendRequest request) {
    if (request.sgeCount() == 1) { // nearly always, and without the set-up of a loop
      return request.sgeLength(0);
    }
    long total = 0;
    for (int i = 0; i < request.sgeCount(); i++) {
      total += request.sgeLength(i);
    }
    return total;
  }

  private BadRequestException tooLongInline(int index, long total) {
    return new BadRequestException(
        Errno.EINVAL,
        index,
        "%d bytes inline: QP 0x%06x takes %d; raise maxInline".formatted(total, qpn, maxInline));
  }

  public static BadRequestException unsupported(String what, int index) {
    return new BadRequestException(
        Errno.EOPNOTSUPP, index, what + " is not supported by this queue pair");
  }

  private BadRequestException tooManyElements(int index, int count) {
    return new BadRequestException(
        Errno.EINVAL,
        index,
        "%d scatter/gather elements: QP 0x%06x takes %d".formatted(count, qpn, maxSge));
  }

  private static BadRequestException tooLong(int index, long total) {
    return new BadRequestException(
        Errno.EINVAL, index, "a message of %d bytes: at most 2^31 are allowed".formatted(total));
  }
}
