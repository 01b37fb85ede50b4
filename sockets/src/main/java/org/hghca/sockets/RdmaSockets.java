package org.hghca.sockets;

import java.io.IOException;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/**
 * Channels and selectors over RDMA, for programs that ask for them. They behave as those of the JDK
 * do; the selectors are for these channels, and for datagram channels and pipes of {@link
 * #provider}. The properties of {@link RdmaSelectorProvider} say what goes over RDMA: without them
 * all does, over the devices of the machine. Thread-safe.
 */
public final class RdmaSockets {
  private RdmaSockets() {}

  private static final class Holder {
    static final RdmaSelectorProvider PROVIDER =
        SelectorProvider.provider() instanceof RdmaSelectorProvider system
            ? system
            : new RdmaSelectorProvider();
  }

  /** The provider: that of the process, if the property names it. */
  public static SelectorProvider provider() {
    return Holder.PROVIDER;
  }

  /** A channel that is not connected; its kind is decided when it is bound or connects. */
  public static SocketChannel openSocketChannel() throws IOException {
    return Holder.PROVIDER.openSocketChannel();
  }

  /** A server channel that is not bound; its kind is decided when it is. */
  public static ServerSocketChannel openServerSocketChannel() throws IOException {
    return Holder.PROVIDER.openServerSocketChannel();
  }

  /** A selector for such channels. */
  public static Selector openSelector() throws IOException {
    return Holder.PROVIDER.openSelector();
  }

  /** What the sockets of this process have done. */
  public static SocketCounters counters() {
    return Holder.PROVIDER.counters();
  }
}
