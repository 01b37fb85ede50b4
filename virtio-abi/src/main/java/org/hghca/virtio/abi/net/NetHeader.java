package org.hghca.virtio.abi.net;

import org.hghca.virtio.abi.Field;

/**
 * What precedes each frame in a buffer: {@code virtio_net_hdr} of version 1. All zero for a frame
 * without offloads that is sent.
 */
public final class NetHeader {
  /** Bytes of the header. */
  public static final int SIZE = 12;

  /** The checksum is to be computed, or was checked. */
  public static final Field FLAGS = Field.u8("flags", 0);

  /** 0: the frame is no segment of a larger one. */
  public static final Field GSO_TYPE = Field.u8("gso_type", 1);

  /** Bytes of the headers of a segmented frame. */
  public static final Field HEADER_LENGTH = Field.le16("hdr_len", 2);

  /** Payload of each segment in bytes. */
  public static final Field GSO_SIZE = Field.le16("gso_size", 4);

  /** Where the checksum begins. */
  public static final Field CHECKSUM_START = Field.le16("csum_start", 6);

  /** Where the checksum is stored, from its beginning. */
  public static final Field CHECKSUM_OFFSET = Field.le16("csum_offset", 8);

  /**
   * Buffers that a received frame fills. Without {@link NetFeature#MRG_RXBUF} a device writes 1,
   * but QEMU 11.1 writes 0: a driver does not look at it then.
   */
  public static final Field BUFFERS = Field.le16("num_buffers", 10);

  private NetHeader() {}
}
