package org.hghca.sockets;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.nio.channels.NetworkChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.hghca.sockets.policy.SocketPolicy;
import org.hghca.sockets.policy.SocketSettings;
import org.hghca.sockets.stream.StreamCounters;
import org.hghca.sockets.stream.StreamDevice;

/**
 * What the channels and selectors of one provider share: the policy with its devices, the JDK's own
 * provider, and what they count. Reads properties and opens devices when they are first needed.
 * Thread-safe.
 */
final class SocketContext {
  private final SocketPolicy.Opener opener;
  private final LongAdder platformStreams = new LongAdder();
  private final Object lock = new Object();
  private volatile SocketPolicy policy;
  private volatile SelectorProvider platform;
  private volatile Map<SocketOption<?>, Object> socketOptions;
  private volatile Map<SocketOption<?>, Object> serverOptions;

  /** With the policy that the system properties say. */
  SocketContext(SocketPolicy.Opener opener) {
    this.opener = opener;
  }

  SocketContext(SocketPolicy policy) {
    this.opener = null; // the policy opens its devices
    this.policy = policy;
  }

  /** To the process's own stream: a program may have put another one in its place. */
  void report() {
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

  /** The calling thread is about to make progress again and again. */
  void beginPolling() {
    SocketPolicy known = policy;
    if (known != null) {
      known.devices().forEach(StreamDevice::beginPolling);
    }
  }

  /**
   * The calling thread is about to sleep until a watcher is told.
   *
   * @param wake as of {@link StreamDevice#beginSleep}
   * @return the devices that know of it, for {@link StreamDevice#endSleep}
   */
  List<StreamDevice> beginSleep(Runnable wake) {
    SocketPolicy known = policy;
    List<StreamDevice> devices = known == null ? List.of() : known.devices();
    for (int i = 0; i < devices.size(); i++) {
      devices.get(i).beginSleep(wake);
    }
    return devices;
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

  /** Closes the devices, with all streams. */
  void close() {
    SocketPolicy ending = policy;
    if (ending != null) {
      ending.close();
    }
  }
}
