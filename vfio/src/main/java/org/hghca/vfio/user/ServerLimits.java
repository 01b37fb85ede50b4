package org.hghca.vfio.user;

import java.nio.charset.StandardCharsets;
import org.hghca.vfio.DmaMapping;
import org.hghca.vfio.user.UserStructures.Version;

/**
 * The version and limits that the client offers, and the parts of the server's reply that the
 * client uses.
 *
 * @param descriptors the most that the server takes in one message
 * @param registerRing whether it knows of {@link RegisterRing}
 */
record ServerLimits(int descriptors, boolean registerRing) {
  private static final int MAJOR = 0;

  /** 0.0 has all the commands that are used here, and every server of this major version has it. */
  private static final int MINOR = 0;

  private static final int DEFAULT_DESCRIPTORS = 1;
  private static final int DEFAULT_TRANSFER = 1 << 20;
  private static final int DEFAULT_PAGE_SIZES = 4096;

  private static final byte[] OFFER =
      ("{\"capabilities\":{\"max_msg_fds\":%d,\"max_data_xfer_size\":%d,\"pgsizes\":%d,"
              + "\"%s\":true,\"%s\":true}}\0")
          .formatted(
              UserConnection.MAX_DESCRIPTORS,
              UserConnection.MAX_TRANSFER,
              DmaMapping.PAGE_SIZE,
              VersionText.REGISTER_RING,
              VersionText.BUSY)
          .getBytes(StandardCharsets.US_ASCII);

  static ServerLimits negotiate(UserConnection connection) {
    return connection.call(
        UserCommand.VERSION, Version.DATA + OFFER.length, ServerLimits::offer, ServerLimits::of);
  }

  private static void offer(UserMessage message) {
    message.putShort(Version.MAJOR, MAJOR);
    message.putShort(Version.MINOR, MINOR);
    for (int i = 0; i < OFFER.length; i++) {
      message.putByte(Version.DATA + i, OFFER[i]);
    }
  }

  private static ServerLimits of(UserMessage reply) {
    UserConnection.checkReply(reply, Version.DATA);
    int major = reply.getShort(Version.MAJOR);
    int minor = reply.getShort(Version.MINOR);
    if (major != MAJOR || minor > MINOR) {
      throw UserConnection.malformed(
          "it answers version %d.%d to an offer of %d.%d".formatted(major, minor, MAJOR, MINOR));
    }
    VersionText text;
    try {
      text = VersionText.of(reply);
    } catch (IllegalArgumentException e) {
      throw UserConnection.malformed("it answers VERSION with " + e.getMessage());
    }
    if (text.number(VersionText.TRANSFER, DEFAULT_TRANSFER) < Long.BYTES) {
      throw UserConnection.malformed("it takes no register accesses of 8 bytes");
    }
    if ((text.number(VersionText.PAGE_SIZES, DEFAULT_PAGE_SIZES) & DmaMapping.PAGE_SIZE) == 0) {
      throw UserConnection.malformed("it takes no pages of 4 KiB");
    }
    long descriptors = text.number(VersionText.DESCRIPTORS, DEFAULT_DESCRIPTORS);
    return new ServerLimits(
        Math.clamp(descriptors, 0, UserConnection.MAX_DESCRIPTORS),
        text.isSet(VersionText.REGISTER_RING));
  }
}
