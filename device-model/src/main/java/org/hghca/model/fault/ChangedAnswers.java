package org.hghca.model.fault;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.MailboxField;
import org.hghca.virtio.abi.Field;
import org.hghca.virtio.abi.roce.QueryDevice;

/** Answers of commands that arrive changed. */
final class ChangedAnswers {
  private static final int DWORD = 4;

  /** Bits 20 of a dword as the document numbers them, in its second byte. */
  private static final int STUCK_BYTE = 1;

  private static final int STUCK_BIT = 1 << 4;

  /** The bytes at the end of an answer that are lost. */
  private static final int LOST = 8;

  /** An exponent that no number of 24 bits has. */
  private static final int IMPOSSIBLE_LOG = 200;

  /** Limits that are smaller than those of any card here, as exponents. */
  private static final Map<MailboxField, Integer> SMALL =
      Map.of(
          DeviceLimits.MAX_QPS, 6,
          DeviceLimits.MAX_CQS, 6,
          DeviceLimits.MAX_MPTS, 9,
          DeviceLimits.MAX_QP_SIZE, 8,
          DeviceLimits.MAX_CQ_SIZE, 9);

  /** The same of the virtio network card, as numbers. */
  private static final Map<Field, Integer> SMALL_VIRTIO =
      Map.of(
          QueryDevice.MAX_QP_WR, 256,
          QueryDevice.MAX_CQE, 512,
          QueryDevice.MAX_MR, 256,
          QueryDevice.MAX_PD, 64,
          QueryDevice.MAX_AH, 64);

  private ChangedAnswers() {}

  /** A bit of each dword is stuck at 1. */
  static byte[] stuckBit(byte[] bytes, Place place, long iova) {
    for (int i = 0; i < bytes.length; i++) {
      if ((place.offset() + i) % DWORD == STUCK_BYTE) {
        bytes[i] |= STUCK_BIT;
      }
    }
    return bytes;
  }

  /** The bytes of each dword are in the opposite order. */
  static byte[] swapped(byte[] bytes, Place place, long iova) {
    byte[] swapped = bytes.clone();
    for (int i = 0; i + DWORD <= bytes.length; i += DWORD) {
      for (int j = 0; j < DWORD; j++) {
        swapped[i + j] = bytes[i + DWORD - 1 - j];
      }
    }
    return swapped;
  }

  /** The last bytes are not written. */
  static byte[] shortened(byte[] bytes, Place place, long iova) {
    long end = place.size() - LOST - place.offset();
    return end >= bytes.length ? bytes : Arrays.copyOf(bytes, (int) Math.max(0, end));
  }

  /** A limit that cannot be: 2^200 queue pairs, or on virtio completion queues without entries. */
  static byte[] impossibleLimits(byte[] bytes, Place place, long iova) {
    MemorySegment fields = MemorySegment.ofArray(bytes);
    if (isVirtio(place)) {
      QueryDevice.MAX_CQE.set(fields, 0, 0);
    } else {
      DeviceLimits.MAX_QPS.set(fields, 0, IMPOSSIBLE_LOG);
    }
    return bytes;
  }

  /** Fewer queue pairs, completion queues and so on than usual. */
  static byte[] smallLimits(byte[] bytes, Place place, long iova) {
    MemorySegment fields = MemorySegment.ofArray(bytes);
    if (isVirtio(place)) {
      SMALL_VIRTIO.forEach((field, limit) -> field.set(fields, 0, limit));
    } else {
      SMALL.forEach((field, limit) -> field.set(fields, 0, limit));
    }
    return bytes;
  }

  private static boolean isVirtio(Place place) {
    return place.size() != DeviceLimits.LAYOUT.size();
  }

  /** Another board. */
  static byte[] otherBoard(byte[] bytes, Place place, long iova) {
    for (int i = Math.max(0, bytes.length - LOST); i < bytes.length; i++) {
      bytes[i] ^= (byte) 0xff;
    }
    return bytes;
  }
}
