package org.hghca.tools.perf.peers;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.hghca.programs.perf.medium.Medium;
import org.hghca.programs.perf.result.LatencyResult;

/** Connections, each made, accepted and closed by both ends before the next. */
final class ConnectEnd implements End {
  private final SocketHost host;
  private final ServerSocketChannel listening;
  private final InetSocketAddress address;

  ConnectEnd(SocketHost host, Medium medium, boolean client)
      throws IOException, InterruptedException {
    this.host = host;
    listening = client ? null : host.listen(medium);
    address = client ? host.address(medium) : null;
  }

  @Override
  public Outcome run(Task task) throws IOException {
    ProcessorTime processor = new ProcessorTime();
    long[] times = new long[task.count() + 1];
    times[0] = System.nanoTime();
    for (int i = 1; i < times.length; i++) {
      try (SocketChannel _ = listening == null ? host.connect(address) : listening.accept()) {
        times[i] = System.nanoTime();
      }
    }
    processor.ends();
    return Outcome.of(LatencyResult.of(task.size(), times, false), 1, processor.nanos());
  }

  @Override
  public void close() throws IOException {
    if (listening != null) {
      listening.close();
    }
  }
}
