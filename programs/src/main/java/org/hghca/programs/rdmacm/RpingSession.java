package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.VerbsException;

/**
 * One of an rping's connections: its identifier and its end. One thread takes the events and calls
 * {@link #handle}, another one does the rest.
 */
final class RpingSession implements AutoCloseable {
  private final CmId id;
  private final String role;
  private final PrintWriter err;
  private final BlockingQueue<CmEventType> events = new LinkedBlockingQueue<>();
  private final AtomicBoolean disconnecting = new AtomicBoolean();
  private Optional<ProtectionDomain> pd = Optional.empty();
  private volatile Optional<RpingEnd> end = Optional.empty();

  /**
   * Without a queue pair yet.
   *
   * @param id is closed with it
   * @param role "server" or "client"
   */
  RpingSession(CmId id, String role, PrintWriter err) {
    this.id = id;
    this.role = role;
    this.err = err;
  }

  CmId id() {
    return id;
  }

  /** Prints what went wrong, ends the connection when the peer does, and wakes who waits. */
  void handle(CmEvent event) {
    switch (event.type()) {
      case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED ->
          err.println("cma event %s, error %d".formatted(event.type().symbol(), event.status()));
      case DISCONNECTED -> {
        err.println(role + " DISCONNECT EVENT...");
        if (disconnecting.compareAndSet(false, true)) {
          end.ifPresent(RpingEnd::disconnected);
          id.disconnect();
        }
      }
      case DEVICE_REMOVAL -> err.println("cma detected device removal!!!!");
      default -> {
        // Nothing to print.
      }
    }
    events.add(event.type());
  }

  /**
   * Waits for an event.
   *
   * @throws FailedException when another one comes instead that ends the attempt
   */
  void await(CmEventType wanted) throws InterruptedException {
    while (true) {
      CmEventType type = events.take();
      if (type == wanted) {
        return;
      }
      switch (type) {
        case ADDR_ERROR, ROUTE_ERROR ->
            throw new FailedException(-1, "waiting for addr/route resolution state 1");
        case CONNECT_ERROR, UNREACHABLE, REJECTED, DISCONNECTED, DEVICE_REMOVAL ->
            throw new FailedException(-1, "wait for CONNECTED state 4");
        default -> {
          // On the way to what is wanted.
        }
      }
    }
  }

  /** Makes the queue pair and the memory for pings of that many bytes. */
  RpingEnd open(int size) {
    try {
      pd = Optional.of(id.context().allocateProtectionDomain());
      end = Optional.of(new RpingEnd(pd.get(), size, id::createQueuePair, err));
      return end.get();
    } catch (VerbsException e) {
      throw new FailedException(-1, "setup_qp failed: " + e.getMessage());
    }
  }

  /** Ends the connection, unless the peer has, and waits for the end of its time wait. */
  void disconnect() throws InterruptedException {
    if (disconnecting.compareAndSet(false, true)) {
      id.disconnect();
    }
    CmEventType type;
    do {
      type = events.poll(Endpoint.TIME_WAIT.toSeconds(), TimeUnit.SECONDS);
    } while (type != null && type != CmEventType.TIMEWAIT_EXIT);
  }

  @Override
  public void close() {
    end.ifPresent(RpingEnd::close);
    pd.ifPresent(ProtectionDomain::close);
    id.close();
  }
}
