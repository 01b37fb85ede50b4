package org.hghca.sockets;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.hghca.sockets.stream.ByteStream;
import org.hghca.sockets.stream.PendingConnect;
import org.hghca.sockets.stream.StreamCounters;
import org.hghca.sockets.stream.StreamDevice;
import org.hghca.sockets.stream.StreamListener;
import org.hghca.sockets.stream.StreamOptions;

/** A device of a network in memory. A connect to an address that no device has gets no answer. */
final class MemoryDevice implements StreamDevice {
  /** Devices that reach each other. */
  static final class Network {
    private final Map<InetSocketAddress, MemoryListener> listeners = new ConcurrentHashMap<>();
    private final Map<InetAddress, MemoryDevice> devices = new ConcurrentHashMap<>();

    MemoryDevice device(String... addresses) {
      List<InetAddress> own = Arrays.stream(addresses).map(InetAddress::ofLiteral).toList();
      MemoryDevice device = new MemoryDevice(this, own);
      own.forEach(address -> devices.put(address, device));
      return device;
    }
  }

  /** Below those that the kernel gives away: tests of fallback bind them over TCP, too. */
  private static final AtomicInteger PORTS = new AtomicInteger(20000);

  private final Network network;
  private final List<InetAddress> addresses;
  private final AtomicLong connected = new AtomicLong();
  private final AtomicLong accepted = new AtomicLong();
  final AtomicLong open = new AtomicLong();
  final AtomicLong bytesSent = new AtomicLong();

  /** Connects wait for {@link MemoryConnect#answer}. */
  volatile boolean slow;

  volatile MemoryConnect lastConnect;
  volatile StreamOptions lastOptions;
  volatile boolean closed;

  private MemoryDevice(Network network, List<InetAddress> addresses) {
    this.network = network;
    this.addresses = addresses;
  }

  @Override
  public List<InetAddress> addresses() {
    return addresses;
  }

  @Override
  public PendingConnect connect(
      InetSocketAddress local, InetSocketAddress remote, StreamOptions options) {
    lastOptions = options;
    int port = local.getPort() == 0 ? PORTS.incrementAndGet() : local.getPort();
    InetSocketAddress from = new InetSocketAddress(local.getAddress(), port);
    MemoryConnect connect = new MemoryConnect(() -> connected(from, remote));
    lastConnect = connect;
    if (!slow && network.devices.containsKey(remote.getAddress())) {
      connect.answer();
    }
    return connect;
  }

  private ByteStream connected(InetSocketAddress from, InetSocketAddress remote)
      throws IOException {
    MemoryListener listener = network.listeners.get(remote);
    if (listener == null) {
      throw new ConnectException("Connection refused");
    }
    MemoryDevice peer = network.devices.get(remote.getAddress());
    MemoryStream[] ends = MemoryStream.pair(this, from, peer, remote);
    if (!listener.offer(ends[1])) {
      throw new ConnectException("Connection refused");
    }
    connected.incrementAndGet();
    peer.accepted.incrementAndGet();
    return ends[0];
  }

  @Override
  public StreamListener listen(InetSocketAddress local, int backlog, StreamOptions options)
      throws IOException {
    lastOptions = options;
    int port = local.getPort() == 0 ? PORTS.incrementAndGet() : local.getPort();
    InetSocketAddress bound = new InetSocketAddress(local.getAddress(), port);
    MemoryListener listener =
        new MemoryListener(bound, backlog, () -> network.listeners.remove(bound));
    if (network.listeners.putIfAbsent(bound, listener) != null) {
      throw new BindException("Address already in use");
    }
    return listener;
  }

  @Override
  public StreamCounters counters() {
    return new StreamCounters(
        connected.get(), accepted.get(), open.get(), bytesSent.get(), 0, 0, 0);
  }

  @Override
  public boolean progress() {
    return false;
  }

  @Override
  public void beginPolling() {
    // there is nothing to poll
  }

  @Override
  public void beginSleep(Runnable wake) {
    // watchers are told by those that write
  }

  @Override
  public void endSleep(Runnable wake) {
    // as above
  }

  @Override
  public void close() {
    closed = true;
  }
}
