package org.hghca.sockets;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.hghca.sockets.policy.Place;
import org.hghca.sockets.policy.SocketPolicy;
import org.hghca.sockets.stream.ByteStream;
import org.hghca.sockets.stream.PendingConnect;
import org.hghca.sockets.stream.StreamOptions;

/**
 * A socket channel until it is connected. Its kind is decided when it is bound or connects: a
 * stream over RDMA, or a channel of the platform, to which it then passes everything on. Also how
 * it closes.
 */
abstract class ConnectingChannel extends SocketChannel implements Registered {
  final SocketContext context;
  final OptionValues options;
  final Registrations registrations = new Registrations(this);
  final ReentrantLock readLock = new ReentrantLock();
  final ReentrantLock writeLock = new ReentrantLock();

  /** Guards changes of all that follows; nothing waits for a peer under it. */
  final Object stateLock = new Object();

  private boolean blocking = true;

  /** As the program named them. */
  InetSocketAddress local;

  InetSocketAddress remote;

  /** Where {@link #local} is over RDMA; null if it is nowhere yet. */
  private Place place;

  volatile Attempt attempt;
  volatile ByteStream stream;
  volatile SocketChannel platform;

  /** A channel that has no kind yet. */
  ConnectingChannel(SelectorProvider provider, SocketContext context, OptionValues options) {
    super(provider);
    this.context = context;
    this.options = options;
  }

  /** With a stream that is connected, or a channel of the platform; the other one is null. */
  ConnectingChannel(
      SelectorProvider provider, SocketContext context, OptionValues options, Connected connected) {
    this(provider, context, options);
    stream = connected.stream();
    platform = connected.platform();
    if (stream == null) {
      registrations.follow(platform);
    } else {
      remote = stream.remoteAddress();
    }
  }

  @Override
  public SocketChannel bind(SocketAddress address) throws IOException {
    lockBoth();
    try {
      synchronized (stateLock) {
        ensureOpen();
        if (platform != null) {
          platform.bind(address);
          return this;
        }
        InetSocketAddress to = Addresses.checkLocal(address);
        if (attempt != null) {
          throw new ConnectionPendingException();
        }
        if (local != null || stream != null) {
          throw new AlreadyBoundException();
        }
        if (!to.getAddress().isAnyLocalAddress()) {
          List<Place> places = context.policy().places(to.getAddress());
          if (places.isEmpty()) {
            becomePlatform();
            platform.bind(to);
            return this;
          }
          place = places.getFirst();
        }
        local = to;
        return this;
      }
    } finally {
      unlockBoth();
    }
  }

  /** With {@link #stateLock}. */
  private void becomePlatform() throws IOException {
    SocketChannel channel = openPlatform();
    try {
      channel.configureBlocking(blocking);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
    platform = channel;
    registrations.follow(channel);
  }

  private SocketChannel openPlatform() throws IOException {
    SocketChannel channel = context.platform().openSocketChannel();
    try {
      options.giveTo(channel);
      if (local != null) {
        channel.bind(local);
      }
      return channel;
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  @Override
  public boolean connect(SocketAddress address) throws IOException {
    return connect(address, Deadlines.NONE);
  }

  boolean connect(SocketAddress address, long deadline) throws IOException {
    lockBoth();
    try {
      beginConnect(address);
      SocketChannel channel = platform;
      if (channel != null) {
        return connectPlatform(channel, address, deadline);
      }
      return isBlocking() ? awaitConnected(deadline) : attempt.done() && finishAttempt();
    } finally {
      unlockBoth();
    }
  }

  /** Decides the kind, and begins to connect over RDMA. */
  private void beginConnect(SocketAddress address) throws IOException {
    synchronized (stateLock) {
      ensureOpen();
      if (stream != null) {
        throw new AlreadyConnectedException();
      }
      if (attempt != null) {
        throw new ConnectionPendingException();
      }
      if (platform != null) {
        return;
      }
      InetSocketAddress to = Addresses.check(address);
      try {
        Optional<SocketPolicy.Route> route =
            place == null
                ? context.policy().route(to.getAddress())
                : Optional.of(context.policy().route(place, to.getAddress()));
        if (route.isEmpty()) {
          becomePlatform();
        } else {
          remote = to;
          attempt = attempt(route.get(), to);
          registrations.renew();
        }
      } catch (IOException e) {
        close();
        throw e;
      }
    }
  }

  private Attempt attempt(SocketPolicy.Route route, InetSocketAddress to) throws IOException {
    int port = local == null ? 0 : local.getPort();
    PendingConnect pending =
        route
            .place()
            .device()
            .connect(
                new InetSocketAddress(route.place().address(), port),
                new InetSocketAddress(route.remote(), to.getPort()),
                options.stream(context.policy().options()));
    if (place != null || context.policy().settings().fallback().isEmpty()) {
      return new RdmaAttempt(pending);
    }
    FallbackAttempt both =
        new FallbackAttempt(
            pending, openPlatform(), to, context.policy().settings().fallback().get());
    both.begin();
    return both;
  }

  private boolean connectPlatform(SocketChannel channel, SocketAddress address, long deadline)
      throws IOException {
    boolean connected = false;
    try {
      if (deadline == Deadlines.NONE) {
        connected = channel.connect(address);
      } else {
        channel.socket().connect(address, Deadlines.millisLeft(deadline));
        connected = true;
      }
    } finally {
      closeWith(channel);
    }
    if (connected) {
      context.countPlatform(channel);
    }
    return connected;
  }

  /** What closed the platform's channel, such as an interrupt or a failed connect, closes this. */
  void closeWith(SocketChannel channel) throws IOException {
    if (!channel.isOpen() && isOpen()) {
      close();
    }
  }

  private boolean awaitConnected(long deadline) throws IOException {
    boolean completed = false;
    try {
      begin();
      while (!completed && isOpen()) {
        Attempt pending = attempt;
        if (pending == null) {
          break;
        }
        if (!pending.await(deadline)) {
          close();
          completed = true; // it was not another thread that closed it
          throw new SocketTimeoutException("Connect timed out");
        }
        completed = pending.done() && isOpen();
      }
    } finally {
      end(completed);
    }
    return finishAttempt();
  }

  private boolean finishAttempt() throws IOException {
    Attempt finished = attempt;
    if (finished == null) {
      throw new AsynchronousCloseException();
    }
    try {
      Connected connected = finished.finish();
      synchronized (stateLock) {
        if (isOpen()) {
          attempt = null;
          take(connected);
          return true;
        }
      }
      connected.close();
      throw new AsynchronousCloseException();
    } catch (IOException e) {
      if (!isOpen()) {
        throw new AsynchronousCloseException();
      }
      close();
      throw e;
    }
  }

  private void take(Connected connected) throws IOException {
    stream = connected.stream();
    if (stream == null) {
      connected.platform().configureBlocking(blocking);
      platform = connected.platform();
      context.countPlatform(platform);
      registrations.follow(platform);
    } else {
      stream.keepAlive(
          options.keepAlive(), options.keepIdle(StreamOptions.DEFAULT.keepIdleSeconds()));
      registrations.renew();
    }
  }

  @Override
  public boolean finishConnect() throws IOException {
    lockBoth();
    try {
      ensureOpen();
      SocketChannel channel = platform;
      if (channel != null) {
        return finishPlatform(channel);
      }
      if (stream != null) {
        return true;
      }
      Attempt pending = attempt;
      if (pending == null) {
        throw new NoConnectionPendingException();
      }
      if (isBlocking()) {
        return awaitConnected(Deadlines.NONE);
      }
      return pending.done() && finishAttempt();
    } finally {
      unlockBoth();
    }
  }

  private boolean finishPlatform(SocketChannel channel) throws IOException {
    boolean before = channel.isConnected();
    boolean connected = false;
    try {
      connected = channel.finishConnect();
    } finally {
      closeWith(channel);
    }
    if (connected && !before) {
      context.countPlatform(channel);
    }
    return connected;
  }

  /** The platform's channel that it stands for; null while there is none. */
  SocketChannel platform() {
    return platform;
  }

  @Override
  public boolean isConnected() {
    SocketChannel channel = platform;
    return channel == null ? stream != null : channel.isConnected();
  }

  @Override
  public boolean isConnectionPending() {
    SocketChannel channel = platform;
    return channel == null ? attempt != null : channel.isConnectionPending();
  }

  @Override
  public Registrations registrations() {
    return registrations;
  }

  @Override
  public void watch(Runnable onChange) {
    Attempt pending = attempt;
    if (pending != null) {
      pending.watch(onChange);
    }
    ByteStream now = stream;
    if (now != null) {
      now.watch(onChange);
    }
  }

  @Override
  protected void implConfigureBlocking(boolean block) throws IOException {
    lockBoth();
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
      unlockBoth();
    }
  }

  @Override
  protected void implCloseSelectableChannel() throws IOException {
    Attempt pending;
    ByteStream open;
    SocketChannel channel;
    synchronized (stateLock) {
      pending = attempt;
      open = stream;
      channel = platform;
      attempt = null;
    }
    if (pending != null) {
      pending.cancel();
    }
    if (open != null) {
      if (options.lingersNot()) {
        open.reset();
      } else {
        open.close();
      }
    }
    if (channel != null) {
      channel.close();
    }
  }

  final void ensureOpen() throws ClosedChannelException {
    if (!isOpen()) {
      throw new ClosedChannelException();
    }
  }

  private void lockBoth() {
    readLock.lock();
    writeLock.lock();
  }

  private void unlockBoth() {
    writeLock.unlock();
    readLock.unlock();
  }
}
