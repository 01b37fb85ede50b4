package org.hghca.abi;

import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Asynchronous events, and their bits in the mask of MAP_EQ (interface document, table 3-2-25): the
 * bit of an event is 1 shifted by its code. Those marked EXTENSION are not in the table.
 */
public enum EventType {
  /** 01: EXTENSION, a QP has migrated to its alternate path. */
  PATH_MIG(0x01),
  /** 02: the first packet arrived while the QP was in RTR. */
  COMM_EST(0x02),
  /** 03: the send queue is drained. */
  SQ_DRAINED(0x03),
  /** 04: a CQ was overrun or could not be written. */
  CQ_ERROR(0x04),
  /** 05: a work queue is in error. */
  WQ_CATAS_ERROR(0x05),
  /** 07: EXTENSION, a peer has migrated to a path that is not the QP's alternate path. */
  PATH_MIG_FAILED(0x07),
  /** 08: the device is in error. */
  LOCAL_CATAS_ERROR(0x08),
  /** 09: a port came up or went down. */
  PORT_CHANGE(0x09),
  /** 10h: a request could not be executed. */
  WQ_INVAL_REQ_ERROR(0x10),
  /** 11h: a request was refused for its access rights. */
  WQ_ACCESS_ERROR(0x11),
  /** 12h: EXTENSION, a shared receive queue cannot be read. */
  SRQ_CATAS_ERROR(0x12),
  /** 13h: EXTENSION, a QP in error takes no more requests from its shared receive queue. */
  SRQ_QP_LAST_WQE(0x13),
  /** 14h: EXTENSION, a shared receive queue holds fewer requests than its limit. */
  SRQ_LIMIT(0x14);

  /** The events of shared receive queues, for a device that supports them. */
  public static final long SRQ_MASK =
      maskOf(EnumSet.of(SRQ_CATAS_ERROR, SRQ_QP_LAST_WQE, SRQ_LIMIT));

  /** The events of alternate paths, for a device that has them. */
  public static final long PATH_MASK = maskOf(EnumSet.of(PATH_MIG, PATH_MIG_FAILED));

  /** HGHCA_ASYNC_EVENT_MASK: all events of the table. */
  public static final long ASYNC_MASK =
      maskOf(EnumSet.allOf(EventType.class)) & ~SRQ_MASK & ~PATH_MASK;

  private final int code;

  EventType(int code) {
    this.code = code;
  }

  /** The code, below 64. */
  public int code() {
    return code;
  }

  /** The document's name, as in {@code HGHCA_EVENT_TYPE_COMM_EST}. */
  public String symbol() {
    return "HGHCA_EVENT_TYPE_" + name();
  }

  /** The bit in the mask of MAP_EQ. */
  public long mask() {
    return 1L << code;
  }

  /** The mask of several events. */
  public static long maskOf(Collection<EventType> events) {
    long mask = 0;
    for (EventType event : events) {
      mask |= event.mask();
    }
    return mask;
  }

  /** The events of a mask; bits that the table does not name are left out. */
  public static Set<EventType> inMask(long mask) {
    Set<EventType> events = EnumSet.noneOf(EventType.class);
    for (EventType event : values()) {
      if ((mask & event.mask()) != 0) {
        events.add(event);
      }
    }
    return events;
  }

  /** The event with this code. */
  public static Optional<EventType> of(int code) {
    return Arrays.stream(values()).filter(event -> event.code == code).findFirst();
  }
}
