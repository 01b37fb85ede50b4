package org.hghca.vfio.user;

import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hghca.vfio.user.UserStructures.Version;

/**
 * What the client says in its {@code VERSION} that matters to the server, out of text that it may
 * have written as it likes: a name that is not found, or has a strange value, has its default.
 *
 * @param maxTransfer the most bytes of one {@code DMA_READ} or {@code DMA_WRITE}
 * @param writeMultiple whether it knows of {@code REGION_WRITE_MULTI}
 */
record Capabilities(int maxTransfer, boolean writeMultiple) {
  /** The protocol's default, which is the server's own limit, too. */
  static final int MAX_TRANSFER = 1 << 20;

  /** The most descriptors in one message to the server; QEMU refuses a server that takes more. */
  static final int MAX_DESCRIPTORS = 16;

  /** The protocol's default. */
  static final int MAX_DMA_MAPS = 65_535;

  private static final Pattern TRANSFER =
      Pattern.compile("\"max_data_xfer_size\"\\s*:\\s*(\\d{1,9})\\b");
  private static final Pattern WRITE_MULTIPLE =
      Pattern.compile("\"write_multiple\"\\s*:\\s*true\\b");

  /** More text than this is not read. */
  private static final int MAX_TEXT = 4096;

  static Capabilities of(UserMessage version) {
    StringBuilder text = new StringBuilder();
    for (int i = Version.DATA; i < version.payloadBytes() && text.length() < MAX_TEXT; i++) {
      text.append((char) version.getByte(i));
    }
    Matcher transfer = TRANSFER.matcher(text);
    int most = transfer.find() ? Integer.parseInt(transfer.group(1)) : MAX_TRANSFER;
    return new Capabilities(Math.min(most, MAX_TRANSFER), WRITE_MULTIPLE.matcher(text).find());
  }

  /** The server's answer, a subset of what was offered; with its NUL. */
  byte[] answer() {
    String text =
        ("{\"capabilities\":{\"max_msg_fds\":%d,\"max_data_xfer_size\":%d,\"max_dma_maps\":%d,"
                + "\"pgsizes\":4096%s}}\0")
            .formatted(
                MAX_DESCRIPTORS,
                MAX_TRANSFER,
                MAX_DMA_MAPS,
                writeMultiple ? ",\"write_multiple\":true" : "");
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
