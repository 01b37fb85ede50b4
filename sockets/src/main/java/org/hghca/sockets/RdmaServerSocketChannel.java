package org.hghca.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.sockets.policy.Place;

/**
 * A server channel whose kind is decided when it is bound: it listens on one or more RDMA devices,
 * with TCP beside them if the program allows fallback, or on the platform alone.
 */
final class RdmaServerSocketChannel extends ServerSocketChannel implements Registered {
  private static final ConditionLog LOG = ConditionLog.of(RdmaServerSocketChannel.class);

  private final SocketContext context;
  private final OptionValues options;
  private final Registrations registrations = new Registrations(this);
  private final ReentrantLock acceptLock = new ReentrantLock();
  private final Object stateLock = new Object();

  private boolean blocking = true;

  /** As the program named it, with the port. */
  private volatile InetSocketAddress local;

  private volatile ServerSocketChannel platform;
  private volatile Arrivals arrivals;

  /** The thread that waits for a connection, if one does. */
  private volatile Thread waiter;

  private ServerSocket socket;

  /** A channel that has no kind yet. */
  RdmaServerSocketChannel(SelectorProvider provider, SocketContext context) throws IOException {
    super(provider);
    this.context = context;
    this.options = new OptionValues(context.serverOptions());
  }

  /** A channel that stands for one of the platform. */
  RdmaServerSocketChannel(
      SelectorProvider provider, SocketContext context, ServerSocketChannel platform)
      throws IOException {
    this(provider, context);
    this.platform = platform;
    registrations.follow(platform);
  }

  @Override
  public ServerSocketChannel bind(SocketAddress address, int backlog) throws IOException {
    synchronized (stateLock) {
      ensureOpen();
      if (platform != null) {
        platform.bind(address, backlog);
        return this;
      }
      if (arrivals != null) {
        throw new AlreadyBoundException();
      }
      InetSocketAddress to = Addresses.checkLocal(address);
      List<Place> places = context.policy().places(to.getAddress());
      if (places.isEmpty()) {
        becomePlatform(to, backlog);
        return this;
      }
      Arrivals listening =
          Arrivals.listen(
              places, to.getPort(), backlog, options.stream(context.policy().options()));
      local = new InetSocketAddress(to.getAddress(), listening.port());
      if (context.policy().settings().fallback().isPresent()) {
        listenBeside(listening, backlog);
      }
      arrivals = listening;
      listening.watch(this::arrived);
    }
    return this;
  }

  /** With {@link #stateLock}. */
  private void becomePlatform(InetSocketAddress to, int backlog) throws IOException {
    ServerSocketChannel channel = openPlatform();
    try {
      channel.bind(to, backlog);
      channel.configureBlocking(blocking);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
    platform = channel;
    registrations.follow(channel);
  }

  private ServerSocketChannel openPlatform() throws IOException {
    ServerSocketChannel channel = context.platform().openServerSocketChannel();
    options.giveTo(channel);
    return channel;
  }

  /** TCP, on the same port; where the connection manager has that port for itself, without it. */
  private void listenBeside(Arrivals listening, int backlog) throws IOException {
    ServerSocketChannel tcp = openPlatform();
    try {
      tcp.bind(local, backlog);
      listening.addPlatform(tcp);
    } catch (IOException e) {
      tcp.close();
      LOG.warn(
          About.NOTHING,
          "{} is bound over RDMA alone, without TCP beside it: {}",
          local,
          e.getMessage());
    }
  }

  private void arrived() {
    registrations.changed();
    LockSupport.unpark(waiter);
  }

  @Override
  public SocketChannel accept() throws IOException {
    return accept(Deadlines.NONE, isBlocking());
  }

  /**
   * Accepts a connection.
   *
   * @return null if it does not wait and none is there
   * @throws SocketTimeoutException at the deadline
   */
  SocketChannel accept(long deadline, boolean waits) throws IOException {
    acceptLock.lock();
    try {
      ServerSocketChannel channel = platform;
      if (channel != null) {
        return acceptPlatform(channel, deadline);
      }
      ensureOpen();
      Arrivals from = arrivals;
      if (from == null) {
        throw new NotYetBoundException();
      }
      return opened(waits ? await(from, deadline) : from.next());
    } finally {
      acceptLock.unlock();
    }
  }

  private SocketChannel acceptPlatform(ServerSocketChannel channel, long deadline)
      throws IOException {
    SocketChannel accepted;
    try {
      if (deadline == Deadlines.NONE) {
        accepted = channel.accept();
      } else {
        ServerSocket timed = channel.socket();
        timed.setSoTimeout(Deadlines.millisLeft(deadline));
        accepted = timed.accept().getChannel();
      }
    } finally {
      if (!channel.isOpen() && isOpen()) {
        close();
      }
    }
    return accepted == null ? null : opened(new Connected(null, accepted));
  }

  private Connected await(Arrivals from, long deadline) throws IOException {
    Connected accepted = null;
    boolean expired = false;
    try {
      begin();
      waiter = Thread.currentThread();
      while (isOpen()) {
        accepted = from.next();
        if (accepted != null || expired) {
          break;
        }
        if (deadline == Deadlines.NONE) {
          LockSupport.park(this);
        } else {
          LockSupport.parkNanos(this, deadline - System.nanoTime());
          expired = deadline - System.nanoTime() <= 0;
        }
      }
    } finally {
      waiter = null;
      end(accepted != null);
    }
    if (accepted == null) {
      throw new SocketTimeoutException("Accept timed out");
    }
    return accepted;
  }

  private SocketChannel opened(Connected accepted) throws IOException {
    if (accepted == null) {
      return null;
    }
    if (accepted.stream() == null) {
      SocketChannel channel = accepted.platform();
      channel.configureBlocking(true);
      context.countPlatform(channel);
      return new RdmaSocketChannel(provider(), context, channel);
    }
    return new RdmaSocketChannel(
        provider(), context, options.accepted(context.socketOptions()), accepted);
  }

  @Override
  public ServerSocket socket() {
    synchronized (stateLock) {
      if (socket == null) {
        socket = ChannelServerSocket.of(this);
      }
      return socket;
    }
  }

  /** The bound address; null for none. */
  SocketAddress boundAddress() throws IOException {
    ServerSocketChannel channel = platform;
    return channel == null ? local : channel.getLocalAddress();
  }

  @Override
  public SocketAddress getLocalAddress() throws IOException {
    ensureOpen();
    return boundAddress();
  }

  @Override
  public <T> ServerSocketChannel setOption(SocketOption<T> option, T value) throws IOException {
    synchronized (stateLock) {
      ensureOpen();
      if (platform == null) {
        options.set(option, value);
      } else {
        platform.setOption(option, value);
      }
    }
    return this;
  }

  @Override
  public <T> T getOption(SocketOption<T> option) throws IOException {
    ensureOpen();
    ServerSocketChannel channel = platform;
    return channel == null ? options.get(option) : channel.getOption(option);
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    ServerSocketChannel channel = platform;
    return channel == null ? options.supported() : channel.supportedOptions();
  }

  @Override
  public Registrations registrations() {
    return registrations;
  }

  @Override
  public int readyOps() {
    Arrivals from = arrivals;
    return from != null && from.any() ? SelectionKey.OP_ACCEPT : 0;
  }

  @Override
  public void watch(Runnable onChange) {
    // listeners are watched from the time when they are bound
  }

  @Override
  protected void implConfigureBlocking(boolean block) throws IOException {
    acceptLock.lock();
    try {
      synchronized (stateLock) {
        blocking = block;
        if (platform != null) {
          if (block) {
            registrations.leavePlatform();
          }
          platform.configureBlocking(block);
        }
      }
    } finally {
      acceptLock.unlock();
    }
  }

  @Override
  protected void implCloseSelectableChannel() throws IOException {
    Arrivals open;
    ServerSocketChannel channel;
    synchronized (stateLock) {
      open = arrivals;
      channel = platform;
    }
    if (open != null) {
      open.close();
      LockSupport.unpark(waiter);
    }
    if (channel != null) {
      channel.close();
    }
  }

  private void ensureOpen() throws ClosedChannelException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
  }

  @Override
  public String toString() {
    ServerSocketChannel channel = platform;
    if (channel != null) {
      return channel.toString();
    }
    String state = local == null ? "unbound" : local.toString();
    return ServerSocketChannel.class.getName() + "[" + (isOpen() ? state : "closed") + "]";
  }
}
