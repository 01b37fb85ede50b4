package org.hghca.cm.tcp;

import java.io.IOException;

/** A peer speaks another version of this protocol. */
final class VersionException extends IOException {
  private static final long serialVersionUID = 1L;

  VersionException(int version) {
    super(
        "the peer speaks version %d of the TCP carrier's protocol, this end version %d"
            .formatted(version, Message.VERSION));
  }
}
