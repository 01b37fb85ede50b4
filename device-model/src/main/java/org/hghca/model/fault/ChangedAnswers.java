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
      if ((place.offset() + i) % DWORD == STUCK_BYTE) { // never the result in front of it
        bytes[i] |= STUCK_BIT;
      }
    }
    return bytes;
  }

  /** The bytes of each dword are in the opposite order. */
  static byte[] swapped(byte[] bytes, Place place, long iova) {
    byte[] swapped = bytes.clone();
    for (int i = first(place); i + DWORD <= bytes.length; i += DWORD) {
      for (int j = 0; j < DWORD; j++) {
        swapped[i + j] = bytes[i + DWORD - 1 - j];
      }
    }
    return swapped;
  }

  /** The last bytes are not written. */
  static byte[] shortened(byte[] bytes, Place place, long iova) {
    long end = Math.max(0, place.size() - LOST) - place.offset();
    return end >= bytes.length ? bytes : Arrays.copyOf(bytes, (int) Math.max(0, end));
  }

  /** Where an answer begins in a write, behind the result. */
  private static int first(Place place) {
    return (int) Math.max(0, -place.offset());
  }

  /** A limit that cannot be: 2^200 queue pairs, or on virtio completion queues without entries. */
  static byte[] impossibleLimits(byte[] bytes, Place place, long iova) {
    return isVirtio(place)
        ? set(bytes, place, Map.of(QueryDevice.MAX_CQE, 0))
        : setMailbox(bytes, Map.of(DeviceLimits.MAX_QPS, IMPOSSIBLE_LOG));
  }

  /** Fewer queue pairs, completion queues and so on than usual. */
  static byte[] smallLimits(byte[] bytes, Place place, long iova) {
    return isVirtio(place) ? set(bytes, place, SMALL_VIRTIO) : setMailbox(bytes, SMALL);
  }

  private static boolean isVirtio(Place place) {
    return place.size() != DeviceLimits.LAYOUT.size();
  }

  /** Sets fields of a mailbox, which the card writes as a whole. */
  private static byte[] setMailbox(byte[] bytes, Map<MailboxField, Integer> values) {
    values.forEach((field, value) -> field.set(MemorySegment.ofArray(bytes), value));
    return bytes;
  }

  /** Sets those fields that a write has. */
  private static byte[] set(byte[] bytes, Place place, Map<Field, Integer> values) {
    values.forEach(
        (field, value) -> {
          long base = -place.offset();
          if (base + field.offset() >= 0 && base + field.end() <= bytes.length) {
            field.set(MemorySegment.ofArray(bytes), base, value);
          }
        });
    return bytes;
  }

  /** Another board. */
  static byte[] otherBoard(byte[] bytes, Place place, long iova) {
    for (int i = Math.max(0, bytes.length - LOST); i < bytes.length; i++) {
      bytes[i] ^= (byte) 0xff;
    }
    return bytes;
  }
}
