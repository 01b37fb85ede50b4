package org.hghca.programs.perf.medium;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QueuePair;

/**
 * A queue pair and its memory, as the peer addresses them.
 *
 * @param lid 0 on Ethernet
 * @param outstandingReads READs and atomics that it serves at a time
 * @param qpNumber 24 bits
 * @param psn the first that it sends, 24 bits
 * @param rkey of the memory
 * @param address of the memory that the peer writes or reads
 * @param srqNumber 0 without XRC
 * @param gid empty on InfiniBand without a global route
 */
public record PeerAddress(
    int lid,
    int outstandingReads,
    int qpNumber,
    int psn,
    int rkey,
    long address,
    int srqNumber,
    Optional<Gid> gid) {
  /** Bytes of a message without GID, with the zero at its end. */
  static final int LENGTH = 59;

  /** Bytes of a message with GID. */
  static final int LENGTH_WITH_GID = 108;

  /** Bytes of a message that is no text: a structure of perftest. */
  static final int STRUCTURE = 56;

  /** What a side sends that has no queue pair yet. */
  static final PeerAddress NONE = new PeerAddress(0, 0, 0, 0, 0, 0, 0, Optional.empty());

  private static final int ADDRESS_OFFSET = 24;
  private static final int GID_OFFSET = 32;
  private static final int SRQ_OFFSET = 48;
  private static final int GID_BYTES = 16;
  private static final int FIELDS = 7;
  private static final int FIELDS_WITH_GID = FIELDS + GID_BYTES;

  /** The same, but reached by a group. */
  public PeerAddress in(Gid group) {
    return new PeerAddress(
        lid,
        outstandingReads,
        QueuePair.MULTICAST_NUMBER,
        psn,
        rkey,
        address,
        srqNumber,
        Optional.of(group));
  }

  /** The fields in hexadecimal, with colons between them. */
  public byte[] toMessage() {
    String head =
        "%04x:%04x:%06x:%06x:%08x:%016x:"
            .formatted(lid, outstandingReads, qpNumber, psn, rkey, address);
    String tail = "%08x".formatted(srqNumber);
    String text =
        gid.map(g -> head + HexFormat.ofDelimiter(":").formatHex(bytes(g)) + ":" + tail + ":")
            .orElse(head + tail);
    return Arrays.copyOf(text.getBytes(US_ASCII), text.length() + 1);
  }

  /** The bytes of a GID. */
  public static byte[] bytes(Gid gid) {
    return HexFormat.of().parseHex(gid.hex());
  }

  /**
   * Reads a message of either format.
   *
   * @throws IllegalArgumentException when it is none
   */
  public static PeerAddress parse(byte[] message) {
    int end = 0;
    while (end < message.length && message[end] != 0) {
      end++;
    }
    String[] fields = new String(message, 0, end, US_ASCII).split(":", -1);
    // The format with GID has a colon at its end.
    boolean withGid = fields.length == FIELDS_WITH_GID + 1 && fields[FIELDS_WITH_GID].isEmpty();
    if (!withGid && fields.length != FIELDS) {
      throw new IllegalArgumentException("expected 7 fields, or 23 with a GID");
    }
    return new PeerAddress(
        number(fields[0], 4),
        number(fields[1], 4),
        number(fields[2], 6),
        number(fields[3], 6),
        number(fields[4], 8),
        wide(fields[5], 16),
        number(fields[withGid ? FIELDS_WITH_GID - 1 : FIELDS - 1], 8),
        withGid ? Optional.of(gid(fields)) : Optional.empty());
  }

  /**
   * The fields as numbers in network order; the index of the GID, which means nothing here, is 0.
   */
  byte[] toStructure() {
    ByteBuffer structure = ByteBuffer.allocate(STRUCTURE);
    structure.putInt(lid).putInt(outstandingReads).putInt(qpNumber).putInt(psn).putInt(rkey);
    structure.putLong(ADDRESS_OFFSET, address);
    gid.ifPresent(g -> structure.put(GID_OFFSET, bytes(g)));
    structure.putInt(SRQ_OFFSET, srqNumber);
    return structure.array();
  }

  /** Reads {@link #STRUCTURE} bytes; a GID of zeros is none. */
  static PeerAddress ofStructure(byte[] bytes) {
    ByteBuffer structure = ByteBuffer.wrap(bytes);
    byte[] gid = Arrays.copyOfRange(bytes, GID_OFFSET, GID_OFFSET + GID_BYTES);
    Gid known = Gid.ofHex(HexFormat.of().formatHex(gid));
    return new PeerAddress(
        structure.getInt(),
        structure.getInt(),
        structure.getInt(),
        structure.getInt(),
        structure.getInt(),
        structure.getLong(ADDRESS_OFFSET),
        structure.getInt(SRQ_OFFSET),
        known.equals(Gid.NONE) ? Optional.empty() : Optional.of(known));
  }

  private static int number(String field, int digits) {
    return (int) wide(field, digits);
  }

  private static long wide(String field, int digits) {
    if (field.length() != digits) {
      throw new IllegalArgumentException("expected %d digits".formatted(digits));
    }
    return HexFormat.fromHexDigitsToLong(field);
  }

  private static Gid gid(String[] fields) {
    StringBuilder hex = new StringBuilder();
    for (int i = 0; i < GID_BYTES; i++) {
      String octet = fields[FIELDS - 1 + i];
      int _ = number(octet, 2);
      hex.append(octet);
    }
    return Gid.ofHex(hex.toString());
  }
}
