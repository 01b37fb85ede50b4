package org.hghca.vfio.user;

import java.time.Duration;

/** How long one end of a connection waits for the other. */
final class UserTimeouts {

  /**
   * How long a server waits for a client to agree on a version: others wait until then, and the
   * client has connected for nothing else.
   */
  static final Duration HANDSHAKE = Duration.ofSeconds(2);

  /**
   * How long a server waits for a client after that: for the rest of a started message, socket
   * buffer space, and its memory.
   */
  static final Duration CLIENT = Duration.ofSeconds(10);

  /**
   * How long a client waits for a server unless its locator says otherwise: for a reply, for the
   * rest of a message and for socket buffer space.
   */
  static final Duration SERVER = Duration.ofSeconds(10);

  private UserTimeouts() {}
}
