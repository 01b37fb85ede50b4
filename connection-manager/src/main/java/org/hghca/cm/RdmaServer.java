package org.hghca.cm;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import org.hghca.verbs.VerbsException;

/**
 * Listens for reliable connections. Thread-safe; any number of threads, virtual ones too, may wait
 * for requests, and each goes to one of them.
 */
public final class RdmaServer implements AutoCloseable {
  private final EventChannel channel;
  private final CmId id;
  private final RdmaOptions options;
  private boolean closed;

  private RdmaServer(EventChannel channel, RdmaOptions options) {
    this.channel = channel;
    this.id = channel.createId(PortSpace.TCP);
    this.options = options;
  }

  /** Listens with {@link RdmaOptions#DEFAULT}. */
  public static RdmaServer listen(InetSocketAddress address) {
    return listen(address, RdmaOptions.DEFAULT);
  }

  /**
   * Listens.
   *
   * @param address of a device, or the wildcard address; port 0 for any free one
   * @param options for the connections that {@link #accept(Duration)} accepts, and for listening
   * @throws VerbsException EADDRINUSE, EADDRNOTAVAIL, EACCES, ENODEV
   */
  public static RdmaServer listen(InetSocketAddress address, RdmaOptions options) {
    RdmaServer server = new RdmaServer(EventChannel.open(options.devices()), options);
    try {
      options.carrier().ifPresent(server.id::carrier);
      server.id.bind(address);
      server.id.listen(options.backlog());
      return server;
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** Where it listens. */
  public InetSocketAddress localAddress() {
    return id.localAddress();
  }

  /**
   * Waits for a request.
   *
   * @return empty when none came within the time limit
   * @throws VerbsException EINVAL when the server is closed, also meanwhile; EIO once for each
   *     device that fails: others are still listened on
   */
  public Optional<RdmaRequest> next(Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    while (true) {
      Duration left = Duration.ofNanos(Math.max(deadline - System.nanoTime(), 0));
      Optional<CmEvent> event = channel.await(left);
      if (event.isEmpty()) {
        return Optional.empty();
      }
      event.get().acknowledge();
      if (event.get().type() == CmEventType.CONNECT_REQUEST) {
        return Optional.of(new RdmaRequest(event.get()));
      }
      if (event.get().type() == CmEventType.DEVICE_REMOVAL && event.get().id().equals(id)) {
        throw event.get().failure();
      }
      // a peer has given up: whoever has its request finds out
    }
  }

  /**
   * Waits for a request, accepts it, and waits until the peer confirms.
   *
   * @param limit for the request to come; the options' time limit is for the rest
   * @return empty when no request came within the time limit
   * @throws VerbsException as {@link #next} and {@link RdmaRequest#accept}
   */
  public Optional<RdmaConnection> accept(Duration limit) throws InterruptedException {
    Optional<RdmaRequest> request = next(limit);
    return request.isPresent() ? Optional.of(request.get().accept(options)) : Optional.empty();
  }

  /**
   * Stops listening, refuses the requests that wait, and ends every wait with EINVAL. Connections
   * stay. Idempotent.
   *
   * @throws VerbsException EBUSY while a request that {@link #next} has returned is not answered
   */
  @Override
  public synchronized void close() {
    if (!closed) {
      Releases releases = new Releases();
      releases.add(id::close);
      releases.add(channel::close);
      releases.run();
      closed = true;
    }
  }

  @Override
  public String toString() {
    return "server at " + localAddress();
  }
}
