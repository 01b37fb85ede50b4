package org.hghca.sockets;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.hghca.sockets.policy.Place;
import org.hghca.sockets.stream.ByteStream;
import org.hghca.sockets.stream.StreamListener;
import org.hghca.sockets.stream.StreamOptions;

/**
 * The connections that wait at a server channel: those of its listeners, one after another, and one
 * that was accepted over TCP beside them. One is taken from a listener ahead, to know that it is
 * there. Thread-safe.
 */
final class Arrivals {
  /** How often a port that one device has free is tried on the others. */
  private static final int TRIES = 16;

  private static final long PAUSE = TimeUnit.MICROSECONDS.toNanos(100);

  private final List<StreamListener> listeners;
  private volatile Runnable watcher;
  private ServerSocketChannel tcp;
  private Thread acceptor;
  private SocketChannel overTcp;
  private Connected next;
  private IOException failure;
  private int turn;
  private boolean closed;

  private Arrivals(List<StreamListener> listeners) {
    this.listeners = listeners;
  }

  /**
   * Listens at all places on one port.
   *
   * @param port 0 for one that all have free
   */
  static Arrivals listen(List<Place> places, int port, int backlog, StreamOptions options)
      throws IOException {
    for (int tries = 1; ; tries++) {
      List<StreamListener> listeners = new ArrayList<>();
      try {
        int chosen = port;
        for (Place place : places) {
          StreamListener listener =
              place
                  .device()
                  .listen(new InetSocketAddress(place.address(), chosen), backlog, options);
          listeners.add(listener);
          chosen = listener.localAddress().getPort();
        }
        return new Arrivals(listeners);
      } catch (BindException e) {
        boolean last = port != 0 || listeners.isEmpty() || tries == TRIES;
        listeners.forEach(StreamListener::close);
        if (last) {
          throw e;
        }
      } catch (IOException e) {
        listeners.forEach(StreamListener::close);
        throw e;
      }
    }
  }

  int port() {
    return listeners.getFirst().localAddress().getPort();
  }

  void watch(Runnable onChange) {
    watcher = onChange;
    listeners.forEach(listener -> listener.watch(onChange));
  }

  /** Accepts over TCP, too: one ahead of the program, which then knows that it is there. */
  synchronized void addPlatform(ServerSocketChannel channel) {
    tcp = channel;
    acceptor = Thread.ofVirtual().name("hghca-accept-tcp").start(() -> acceptPlatform(channel));
  }

  private void acceptPlatform(ServerSocketChannel channel) {
    try {
      while (true) {
        SocketChannel accepted = channel.accept();
        put(accepted);
        tell();
        awaitTaken();
      }
    } catch (IOException e) {
      fail(e);
      tell();
    }
  }

  private void tell() {
    Runnable told = watcher;
    if (told != null) {
      told.run();
    }
  }

  private synchronized void put(SocketChannel accepted) throws IOException {
    if (closed) {
      accepted.close();
    } else {
      overTcp = accepted;
    }
  }

  private synchronized void awaitTaken() {
    while (overTcp != null) {
      try {
        wait();
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private synchronized void fail(IOException e) {
    if (!closed) {
      failure = e;
    }
  }

  /** Whether {@link #next} has an answer. */
  synchronized boolean any() {
    if (next == null && failure == null && !closed) {
      try {
        next = poll();
      } catch (IOException e) {
        failure = e;
      }
    }
    return next != null || failure != null;
  }

  /** The next connection; null when none waits. */
  synchronized Connected next() throws IOException {
    if (!any()) {
      return null;
    }
    if (next == null) {
      IOException thrown = failure;
      failure = null;
      throw thrown;
    }
    Connected taken = next;
    next = null;
    return taken;
  }

  private Connected poll() throws IOException {
    if (overTcp != null) {
      Connected taken = new Connected(null, overTcp);
      overTcp = null;
      notifyAll();
      return taken;
    }
    for (int i = 0; i < listeners.size(); i++) {
      turn = (turn + 1) % listeners.size();
      ByteStream stream = listeners.get(turn).accept();
      if (stream != null) {
        return new Connected(stream, null);
      }
    }
    return null;
  }

  /** Ends listening, and the connections that wait. Idempotent. */
  void close() throws IOException {
    Thread ending = end();
    while (ending != null && ending.isAlive()) { // the port is free when it has left its accept
      LockSupport.parkNanos(this, PAUSE);
    }
  }

  private synchronized Thread end() throws IOException {
    closed = true;
    listeners.forEach(StreamListener::close);
    if (tcp != null) {
      tcp.close();
    }
    if (overTcp != null) {
      overTcp.close();
      overTcp = null;
    }
    notifyAll();
    if (next != null) {
      next.close();
      next = null;
    }
    return acceptor;
  }
}
