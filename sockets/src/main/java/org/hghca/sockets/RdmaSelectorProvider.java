package org.hghca.sockets;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardProtocolFamily;
import java.nio.channels.Channel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.NetworkChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.hghca.cm.CmId;
import org.hghca.sockets.policy.SocketPolicy;
import org.hghca.sockets.policy.SocketSettings;
import org.hghca.sockets.stream.RdmaStreamDevice;
import org.hghca.sockets.stream.StreamCounters;
import org.hghca.sockets.stream.StreamDevice;

/**
 * Channels and selectors of a program that knows nothing of RDMA: with {@code
 * -Djava.nio.channels.spi.SelectorProvider=org.hghca.sockets.RdmaSelectorProvider} all of {@link
 * SocketChannel#open}, {@link ServerSocketChannel#open} and {@code Selector.open} come from here.
 * What of them goes over RDMA, and over which devices, say the properties {@code
 * org.hghca.sockets.networks} and {@code org.hghca.sockets.devices}; the rest, datagram channels and
 * pipes are the platform's. Its channels are for its selectors, and its selectors for its channels.
 *
 * <p>Properties are read, and devices opened, when they are first needed. Devices are closed when
 * the JVM ends. Thread-safe.
 */
public final class RdmaSelectorProvider extends SelectorProvider {
  /** {@code true}: the counters are printed on the standard error stream when the JVM ends. */
  static final String REPORT = "org.hghca.sockets.report";

  /** What a stack holds between this class and who has opened a channel. */
  private static final int FRAMES = 4;

  private static final String CONNECTION_MANAGER = CmId.class.getPackageName() + ".";

  private final SocketPolicy.Opener opener;
  private final LongAdder platformStreams = new LongAdder();
  private final Object lock = new Object();
  private volatile SocketPolicy policy;
  private volatile SelectorProvider platform;
  private volatile Map<SocketOption<?>, Object> socketOptions;
  private volatile Map<SocketOption<?>, Object> serverOptions;

  /** For the JDK, which makes one for each process. Reads no property and opens nothing. */
  public RdmaSelectorProvider() {
    this(RdmaStreamDevice::open);
    Runtime.getRuntime().addShutdownHook(new Thread(this::end, "hghca-sockets-end"));
  }

  private RdmaSelectorProvider(SocketPolicy.Opener opener) {
    this.opener = opener;
  }

  /** One with a policy of its own, which closes it. */
  RdmaSelectorProvider(SocketPolicy policy) {
    this(
        name -> {
          throw new IllegalStateException(name);
        });
    this.policy = policy;
  }

  private void end() {
    if (Boolean.getBoolean(REPORT)) {
      report();
    }
    SocketPolicy ending = policy;
    if (ending != null) {
      ending.close();
    }
  }

  /** To the process's own stream: a program may have put another one in its place. */
  private void report() {
    try (PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err))) {
      err.println("hghca sockets: " + counters());
    }
  }

  /** What goes over RDMA. */
  SocketPolicy policy() throws SocketException {
    SocketPolicy known = policy;
    if (known == null) {
      synchronized (lock) {
        if (policy == null) {
          policy = new SocketPolicy(SocketSettings.read(System::getProperty), opener);
        }
        known = policy;
      }
    }
    return known;
  }

  /** The JDK's own provider. */
  SelectorProvider platform() {
    SelectorProvider known = platform;
    if (known == null) {
      known = Platform.provider();
      platform = known;
    }
    return known;
  }

  /** Takes what the devices have completed; true if that was something. */
  boolean progress() {
    SocketPolicy known = policy;
    if (known == null) {
      return false;
    }
    boolean some = false;
    List<StreamDevice> devices = known.devices();
    for (int i = 0; i < devices.size(); i++) {
      some |= devices.get(i).progress();
    }
    return some;
  }

  /** The options of socket channels, with their values at first. */
  Map<SocketOption<?>, Object> socketOptions() throws IOException {
    Map<SocketOption<?>, Object> known = socketOptions;
    if (known == null) {
      try (NetworkChannel channel = platform().openSocketChannel()) {
        known = OptionValues.defaults(channel);
        socketOptions = known;
      }
    }
    return known;
  }

  /** The options of server channels, with their values at first. */
  Map<SocketOption<?>, Object> serverOptions() throws IOException {
    Map<SocketOption<?>, Object> known = serverOptions;
    if (known == null) {
      try (NetworkChannel channel = platform().openServerSocketChannel()) {
        known = OptionValues.defaults(channel);
        serverOptions = known;
      }
    }
    return known;
  }

  /** Counts a connection of the platform, unless it is within this machine by a socket file. */
  void countPlatform(SocketChannel channel) throws IOException {
    if (channel.getRemoteAddress() instanceof InetSocketAddress) {
      platformStreams.increment();
    }
  }

  /** What the channels have done. */
  SocketCounters counters() {
    SocketPolicy known = policy;
    List<StreamCounters> all =
        known == null ? List.of() : known.devices().stream().map(StreamDevice::counters).toList();
    return new SocketCounters(
        all.stream().mapToLong(StreamCounters::connected).sum(),
        all.stream().mapToLong(StreamCounters::accepted).sum(),
        all.stream().mapToLong(StreamCounters::open).sum(),
        all.stream().mapToLong(StreamCounters::bytesSent).sum(),
        all.stream().mapToLong(StreamCounters::bytesReceived).sum(),
        platformStreams.sum());
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
    return new RdmaSelector(this, platform().openSelector());
  }

  @Override
  public SocketChannel openSocketChannel() throws IOException {
    return isForConnectionManager()
        ? platform().openSocketChannel()
        : new RdmaSocketChannel(this);
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
        : new RdmaSocketChannel(this, platform().openSocketChannel(family));
  }

  @Override
  public ServerSocketChannel openServerSocketChannel() throws IOException {
    return isForConnectionManager()
        ? platform().openServerSocketChannel()
        : new RdmaServerSocketChannel(this);
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
        : new RdmaServerSocketChannel(this, platform().openServerSocketChannel(family));
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
        countPlatform(channel);
        yield new RdmaSocketChannel(this, channel);
      }
      case ServerSocketChannel channel -> new RdmaServerSocketChannel(this, channel);
      case DatagramChannel channel -> new PlatformDatagramChannel(this, channel);
      case null -> null;
      case Channel other -> other;
    };
  }
}
