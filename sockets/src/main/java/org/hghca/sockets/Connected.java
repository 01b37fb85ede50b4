package org.hghca.sockets;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import org.hghca.sockets.stream.ByteStream;

/**
 * What a connect has led to: one of the two, the other is null.
 *
 * @param stream over RDMA
 * @param platform over TCP
 */
record Connected(ByteStream stream, SocketChannel platform) {
  void close() throws IOException {
    if (stream == null) {
      platform.close();
    } else {
      stream.close();
    }
  }
}
