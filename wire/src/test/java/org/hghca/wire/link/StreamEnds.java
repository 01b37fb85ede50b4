package org.hghca.wire.link;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.hghca.wire.IpAddress;
import org.hghca.wire.PortAddresses;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** The place of a socket, the two ends of its stream, and what is closed after a test. */
abstract class StreamEnds {
  static final long OWN_MAC = 0x0200_0000_0001L;
  static final long PEER_MAC = 0x5254_0012_3456L;
  static final int OWN = 0x0a00_0001;
  static final int PEER = 0x0a00_0002;
  static final PortAddresses ADDRESSES = PortAddresses.NONE.with(0, IpAddress.lowOfIpv4(OWN));

  @TempDir Path directory;

  final List<AutoCloseable> open = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
  }

  String path() {
    return directory.resolve("net").toString();
  }

  ServerSocketChannel listen() throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(path()));
    open.add(server);
    return server;
  }
}
