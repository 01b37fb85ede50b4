package org.hghca.sockets;

import java.io.IOException;
import java.nio.channels.SelectableChannel;

/**
 * What a channel that stands for one of the platform has of a {@link Registered} one: nothing is
 * ready without the platform.
 */
record PlatformSide(SelectableChannel channel, Registrations registrations) {
  static PlatformSide of(Registered outer, SelectableChannel channel) {
    Registrations registrations = new Registrations(outer);
    registrations.follow(channel);
    return new PlatformSide(channel, registrations);
  }

  void configureBlocking(boolean block) throws IOException {
    if (block) {
      registrations.leavePlatform();
    }
    channel.configureBlocking(block);
  }
}
