package org.hghca.cm;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.hghca.cm.device.Releases;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.VerbsException;

/**
 * Listens for reliable connections. Thread-safe; any number of threads, virtual ones too, may wait
 * for requests, and each goes to one of them.
 */
public final class RdmaServer implements AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(RdmaServer.class);

  private final EventChannel channel;
  private final CmId id;
  private final RdmaOptions options;
  private final Acceptances acceptances = new Acceptances();
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
    return next(System.nanoTime() + limit.toNanos(), new CompletableFuture<>());
  }

  private Optional<RdmaRequest> next(long deadline, CompletableFuture<?> until)
      throws InterruptedException {
    while (true) {
      Optional<CmEvent> event = channel.await(left(deadline), until);
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

  private static Duration left(long deadline) {
    return Duration.ofNanos(Math.max(deadline - System.nanoTime(), 0));
  }

  /**
   * Accepts requests as they come, and waits for the first whose peer confirms: a peer that does
   * not confirm within the options' time limit holds up no other one. Those that are confirmed
   * later are for later calls.
   *
   * @param limit for a request to come; the options' time limit is for the rest
   * @return empty when no request came within the time limit, or none of those that came was
   *     confirmed
   * @throws VerbsException as {@link #next}; EINVAL, ENOMEM as the queue pair requires
   */
  public Optional<RdmaConnection> accept(Duration limit) throws InterruptedException {
    long deadline = System.nanoTime() + limit.toNanos();
    boolean takes = true;
    while (true) {
      CompletableFuture<Void> change = acceptances.change();
      Optional<RdmaConnection> confirmed = acceptances.poll();
      if (confirmed.isPresent()) {
        return confirmed;
      }
      if (takes) {
        takes = deadline - System.nanoTime() > 0;
        Optional<RdmaRequest> request = next(deadline, change);
        if (request.isPresent()) {
          answer(request.get());
        }
      } else if (!acceptances.isPending() || !await(change, deadline)) {
        return acceptances.poll();
      }
    }
  }

  private void answer(RdmaRequest request) throws InterruptedException {
    try {
      acceptances.add(request.answer(options));
    } catch (VerbsException e) {
      if (!request.hasFailed()) {
        throw e;
      }
      LOG.debug(About.NOTHING, "{}: gone before it was accepted", request, e);
    }
  }

  /** Says whether a change came within the time limits of what came before the deadline. */
  private boolean await(CompletableFuture<Void> change, long deadline) throws InterruptedException {
    try {
      change.get(left(deadline + options.timeout().toNanos()).toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException _) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException("a change does not fail", e);
    }
  }

  /**
   * Stops listening, refuses the requests that wait and those that are not confirmed, and ends
   * every wait with EINVAL. Connections that {@link #accept} has returned stay. Idempotent.
   *
   * @throws VerbsException EBUSY while a request that {@link #next} has returned is not answered
   */
  @Override
  public synchronized void close() {
    if (!closed) {
      Releases releases = new Releases();
      acceptances.close(releases);
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
