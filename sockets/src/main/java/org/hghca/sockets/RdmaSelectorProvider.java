package org.hghca.sockets;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import org.hghca.cm.CmId;
import org.hghca.sockets.stream.RdmaStreamDevice;

/**
 * Channels and selectors of a program that knows nothing of RDMA: with {@code
 * -Djava.nio.channels.spi.SelectorProvider=org.hghca.sockets.RdmaSelectorProvider} all of {@link
 * SocketChannel#open}, {@link ServerSocketChannel#open} and {@code Selector.open} come from here.
 * What of them goes over RDMA, and over which devices, say the properties {@code
 * org.hghca.sockets.networks} and {@code org.hghca.sockets.devices}; the rest, datagram channels
 * and pipes are the platform's. Its channels are for its selectors, and its selectors for its
 * channels.
 *
 * <p>Properties are read, and devices opened, when they are first needed. Devices are closed when
 * the JVM ends. Thread-safe.
 */
public final class RdmaSelectorProvider extends SelectorProvider {
  /** {@code true}: the counters are printed on the standard error stream when the JVM ends. */
  static final String REPORT = "org.hghca.sockets.report";

  /**
   * {@code true}: a {@link java.net.Socket} and a {@link java.net.ServerSocket} are channels, too.
   */
  static final String NET = "org.hghca.sockets.net";

  /** What a stack holds between this class and who has opened a channel. */
  private static final int FRAMES = 4;

  private static final String CONNECTION_MANAGER = CmId.class.getPackageName() + ".";

  private final SocketContext context;

  /** For the JDK, which makes one for each process. Reads no property and opens nothing. */
  public RdmaSelectorProvider() {
    this(new SocketContext(RdmaStreamDevice::open));
    LastHook.add(this::end);
    if (Boolean.getBoolean(NET)) {
      useForSockets();
    }
  }

  private void useForSockets() {
    try {
      NetSocketImpl.useFor(this);
    } catch (IOException e) {
      throw new UncheckedIOException("-D%s: the program has sockets of its own".formatted(NET), e);
    }
  }

  /** One with a context of its own, which closes it. */
  RdmaSelectorProvider(SocketContext context) {
    this.context = context;
  }

  private void end() {
    if (Boolean.getBoolean(REPORT)) {
      context.report();
    }
    context.close();
  }

  /** The JDK's own provider. */
  SelectorProvider platform() {
    return context.platform();
  }

  /** What the channels have done. */
  SocketCounters counters() {
    return context.counters();
  }

  @Override
  public DatagramChannel openDatagramChannel() throws IOException {
    return new PlatformDatagramChannel(this, platform().openDatagramChannel());
  }

  @Override
  public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
    return new PlatformDatagramChannel(this, platform().openDatagramChannel(family));
  }

  @Override
  public Pipe openPipe() throws IOException {
    return new PlatformPipe(this, platform().openPipe());
  }

  @Override
  public AbstractSelector openSelector() throws IOException {
    return new RdmaSelector(this, context, platform().openSelector());
  }

  @Override
  public SocketChannel openSocketChannel() throws IOException {
    return isForConnectionManager()
        ? platform().openSocketChannel()
        : new RdmaSocketChannel(this, context);
  }

  /**
   * Opens a channel.
   *
   * @param family that of Unix domain sockets, which are the platform's, or of internet addresses,
   *     which makes no difference
   */
  @Override
  public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
    return isInternet(family)
        ? openSocketChannel()
        : new RdmaSocketChannel(this, context, platform().openSocketChannel(family));
  }

  @Override
  public ServerSocketChannel openServerSocketChannel() throws IOException {
    return isForConnectionManager()
        ? platform().openServerSocketChannel()
        : new RdmaServerSocketChannel(this, context);
  }

  /**
   * Opens a channel.
   *
   * @param family as of {@link #openSocketChannel(ProtocolFamily)}
   */
  @Override
  public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
    return isInternet(family)
        ? openServerSocketChannel()
        : new RdmaServerSocketChannel(this, context, platform().openServerSocketChannel(family));
  }

  private static boolean isInternet(ProtocolFamily family) {
    return family == StandardProtocolFamily.INET || family == StandardProtocolFamily.INET6;
  }

  /** The connection manager's TCP carrier would otherwise wait for itself. */
  private static boolean isForConnectionManager() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames
                    .limit(FRAMES)
                    .anyMatch(frame -> frame.getClassName().startsWith(CONNECTION_MANAGER)));
  }

  /** The channel that the process has inherited, if any. */
  @Override
  public Channel inheritedChannel() throws IOException {
    return switch (platform().inheritedChannel()) {
      case SocketChannel channel -> {
        context.countPlatform(channel);
        yield new RdmaSocketChannel(this, context, channel);
      }
      case ServerSocketChannel channel -> new RdmaServerSocketChannel(this, context, channel);
      case DatagramChannel channel -> new PlatformDatagramChannel(this, channel);
      case null -> null;
      case Channel other -> other;
    };
  }
}
