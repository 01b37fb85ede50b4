package org.hghca.abi;

/**
 * EXTENSION. The table of a port's own GIDs, which {@link DeviceExtension#IPV6_ADDRESSES}
 * announces: the inbox of WRITE_GID is an entry.
 *
 * <pre>
 *         +0      +1      +2      +3
 *     +-------------------------------+
 * 00h |      gid, 16 bytes to 0Fh     |
 *     +-------------------------------+
 * </pre>
 *
 * <p>An entry of zeros is empty, as all are after a reset and after CLOSE_HCA. The device refuses
 * the GID of an address that its port cannot send from, with BAD_PARAM. Entries are written before
 * a context or a datagram selects them.
 */
public final class GidTable {
  /** Entries, with indices from 0. */
  public static final int SIZE = 64;

  /** 00h, 64 bits: first 8 bytes of the GID. */
  public static final MailboxField GID_HIGH = MailboxField.qword("gid[127:64]", 0x00);

  /** 08h, 64 bits: last 8 bytes of the GID. */
  public static final MailboxField GID_LOW = MailboxField.qword("gid[63:0]", 0x08);

  /** An entry, 16 bytes. */
  public static final MailboxLayout LAYOUT =
      MailboxLayout.of("GID", "an extension", 16, GID_HIGH, GID_LOW);

  private GidTable() {}
}
