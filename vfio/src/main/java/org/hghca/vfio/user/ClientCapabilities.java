package org.hghca.vfio.user;

import java.nio.charset.StandardCharsets;

/**
 * The parts of the client's {@code VERSION} that the server uses.
 *
 * @param maxTransfer the most bytes of one {@code DMA_READ} or {@code DMA_WRITE}, 1 or more
 * @param writeMultiple whether it knows of {@code REGION_WRITE_MULTI}
 * @param registerRing whether it knows of {@link RegisterRing}
 */
record ClientCapabilities(int maxTransfer, boolean writeMultiple, boolean registerRing) {
  /** The protocol's default, which is the server's own limit, too. */
  static final int MAX_TRANSFER = 1 << 20;

  /**
   * The maximum number of descriptors in one message to the server; QEMU refuses a server that
   * accepts more.
   */
  static final int MAX_DESCRIPTORS = 16;

  /** The protocol's default. */
  static final int MAX_DMA_MAPS = 65_535;

  /**
   * Reads a client's first message.
   *
   * @throws Refusal {@code EINVAL} when its text is none that the protocol knows, or a number
   *     cannot be
   */
  static ClientCapabilities of(UserMessage version) {
    VersionText text;
    try {
      text = VersionText.of(version);
    } catch (IllegalArgumentException e) {
      throw Refusal.invalid("VERSION with " + e.getMessage());
    }
    long transfer = text.number(VersionText.TRANSFER, MAX_TRANSFER);
    if (transfer < 1 || text.number(VersionText.DESCRIPTORS, 1) < 0) {
      throw Refusal.invalid("VERSION with a limit that cannot be kept");
    }
    return new ClientCapabilities(
        (int) Math.min(transfer, MAX_TRANSFER),
        text.isSet(VersionText.WRITE_MULTIPLE),
        text.isSet(VersionText.REGISTER_RING));
  }

  /** The server's answer, a subset of what was offered; with its NUL. */
  byte[] answer() {
    String text =
        ("{\"capabilities\":{\"max_msg_fds\":%d,\"max_data_xfer_size\":%d,\"max_dma_maps\":%d,"
                + "\"pgsizes\":4096%s%s}}\0")
            .formatted(
                MAX_DESCRIPTORS,
                MAX_TRANSFER,
                MAX_DMA_MAPS,
                announce(writeMultiple, VersionText.WRITE_MULTIPLE),
                announce(registerRing, VersionText.REGISTER_RING));
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  private static String announce(boolean offered, String name) {
    return offered ? ",\"%s\":true".formatted(name) : "";
  }
}
