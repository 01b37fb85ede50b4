package org.hghca.sockets.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmId;
import org.hghca.sockets.protocol.ConnectData;
import org.hghca.sockets.protocol.ForeignPeerException;
import org.hghca.verbs.VerbsException;

/** A connect by the connection manager. Its monitor is held while something happens to it. */
final class RdmaPendingConnect implements PendingConnect, CmHandler {
  private static final Duration RESOLUTION = Duration.ofSeconds(5);

  private final StreamResources resources;
  private final CmId id;
  private final StreamOptions options;
  private final Outcome outcome = new Outcome();
  private Endpoint endpoint;

  /** A connect that has not begun. */
  RdmaPendingConnect(StreamResources resources, CmId id, StreamOptions options) {
    this.resources = resources;
    this.id = id;
    this.options = options;
  }

  /**
   * Begins.
   *
   * @param local null for any
   * @throws VerbsException when the local address is taken
   */
  void begin(InetSocketAddress local, InetSocketAddress remote) {
    if (local != null) {
      id.bind(local);
    }
    id.resolveAddress(remote, RESOLUTION);
  }

  @Override
  public synchronized void happened(CmEvent event) {
    if (endpoint != null && endpoint.isOpen()) {
      endpoint.stream().happened(event);
      return;
    }
    if (outcome.isDone()) {
      return; // cancelled
    }
    try {
      switch (event.type()) {
        case ADDR_RESOLVED -> id.resolveRoute(RESOLUTION);
        case ROUTE_RESOLVED -> ask();
        case ESTABLISHED -> established(event);
        default -> fail(ConnectFailures.of(event));
      }
    } catch (VerbsException e) {
      fail(ConnectFailures.of(e));
    } catch (ForeignPeerException e) {
      fail(new SocketException("%s: %s".formatted(id.remoteAddress(), e.getMessage())));
    }
  }

  private void ask() {
    endpoint = new Endpoint(resources, id, options);
    id.connect(endpoint.parameters());
  }

  private void established(CmEvent event) throws ForeignPeerException {
    endpoint.open(ConnectData.of(event.privateData(), resources.framing()));
    resources.connected();
    if (!outcome.complete(endpoint.stream())) {
      endpoint.stream().close(); // cancelled meanwhile
    }
  }

  private void fail(IOException why) {
    if (outcome.fail(why)) {
      release();
    }
  }

  private synchronized void release() {
    if (endpoint != null) {
      endpoint.close();
    } else {
      resources.close(id);
    }
  }

  @Override
  public void abandon() {
    cancel();
    Endpoint made;
    synchronized (this) {
      made = endpoint;
    }
    if (made != null && made.isOpen()) {
      made.stream().close();
    }
  }

  @Override
  public boolean done() {
    return outcome.isDone();
  }

  @Override
  public ByteStream finish() throws IOException {
    return outcome.take();
  }

  @Override
  public boolean await(long deadlineNanos) {
    return outcome.await(deadlineNanos);
  }

  @Override
  public void watch(Runnable onChange) {
    outcome.watch(onChange);
  }

  @Override
  public void cancel() {
    if (outcome.fail(new ClosedChannelException())) {
      var _ = Thread.startVirtualThread(this::release); // may wait for an event that is handled
      return;
    }
    RdmaStream left = outcome.untaken();
    if (left != null) {
      left.close();
    }
  }
}
