package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.cm.ConnectionParameters;
import org.hghca.cm.PortSpace;

/**
 * The program rping. One thread takes the events; the thread that runs the program, or in a
 * persistent server a virtual one for each connection, does the pings. How many connections may be
 * answered and not confirmed is up to the connection manager; none of them waits for another.
 */
public final class Rping {
  private static final ConnectionParameters PARAMETERS =
      ConnectionParameters.DEFAULT.withResponderResources(1).withInitiatorDepth(1);
  private static final int BACKLOG = 3;

  private final Options options;
  private final Endpoint endpoint;
  private final PrintWriter out;
  private final PrintWriter err;
  private final Map<CmId, RpingSession> sessions = new ConcurrentHashMap<>();
  private final BlockingQueue<RpingSession> requests = new LinkedBlockingQueue<>();

  /**
   * What it is called with.
   *
   * @param server whether it is the server
   * @param address of the server
   * @param local the address of a client
   * @param size bytes of a ping
   * @param count how many pings a client sends; 0 for ever
   * @param verbose whether pings are printed
   * @param validate whether a client compares what comes back
   * @param persistent whether a server serves any number of clients
   */
  public record Options(
      boolean server,
      InetSocketAddress address,
      Optional<InetSocketAddress> local,
      int size,
      int count,
      boolean verbose,
      boolean validate,
      boolean persistent) {}

  public Rping(Options options, Endpoint endpoint, PrintWriter out, PrintWriter err) {
    this.options = options;
    this.endpoint = endpoint;
    this.out = out;
    this.err = err;
  }

  /** Runs it and returns its status, 0 for success. */
  public int run() throws InterruptedException {
    Thread events = Thread.ofPlatform().name("rping-events").start(this::takeEvents);
    try {
      return options.server() ? serve() : client();
    } catch (FailedException e) {
      err.println(e.getMessage());
      return e.status();
    } finally {
      events.interrupt();
      events.join();
    }
  }

  private void takeEvents() {
    try {
      while (true) {
        try (CmEvent event = endpoint.await()) {
          if (event.type() == CmEventType.CONNECT_REQUEST) {
            requests.add(session(event.id(), "server"));
          } else {
            RpingSession session = sessions.get(event.id());
            if (session != null) {
              session.handle(event);
            }
          }
        }
      }
    } catch (InterruptedException _) {
      // The program ends.
    }
  }

  private RpingSession session(CmId id, String role) {
    RpingSession session = new RpingSession(id, role, err);
    sessions.put(id, session);
    return session;
  }

  private int client() throws InterruptedException {
    try (RpingSession session = session(endpoint.createId(PortSpace.TCP), "client")) {
      CmId id = session.id();
      Failures.check(
          "rdma_resolve_addr", () -> Endpoint.resolve(id, options.local(), options.address()));
      session.await(CmEventType.ADDR_RESOLVED);
      Failures.check("rdma_resolve_route", () -> id.resolveRoute(Endpoint.RESOLUTION));
      session.await(CmEventType.ROUTE_RESOLVED);
      RpingEnd end = session.open(options.size());
      Failures.check("rdma_connect", () -> id.connect(PARAMETERS));
      session.await(CmEventType.ESTABLISHED);
      int status =
          new Pinging(end, options.verbose(), out, err).ping(options.count(), options.validate());
      if (status != 0) {
        err.println("rping client failed: " + status);
      }
      session.disconnect();
      return status;
    }
  }

  private int serve() throws InterruptedException {
    ExecutorService connections = Executors.newVirtualThreadPerTaskExecutor();
    try (CmId listener = endpoint.createId(PortSpace.TCP)) {
      Failures.check("rdma_bind_addr", () -> listener.bind(options.address()));
      Failures.check("rdma_listen", () -> listener.listen(BACKLOG));
      while (options.persistent()) {
        RpingSession session = requests.take();
        connections.execute(() -> serveAlone(session));
      }
      int status = serve(requests.take());
      if (status != 0) {
        err.println("rping server failed: " + status);
      }
      return status;
    } finally {
      connections.shutdownNow();
      connections.close();
      requests.forEach(RpingSession::close);
    }
  }

  private void serveAlone(RpingSession session) {
    try {
      int _ = serve(session);
    } catch (FailedException e) {
      err.println(e.getMessage());
    } catch (InterruptedException _) {
      // The server ends.
    }
  }

  private int serve(RpingSession session) throws InterruptedException {
    try (session) {
      RpingEnd end = session.open(options.size());
      Failures.check("rdma_accept", () -> session.id().accept(ConnectionParameters.DEFAULT));
      session.await(CmEventType.ESTABLISHED);
      int status = new Pinging(end, options.verbose(), out, err).serve();
      session.disconnect();
      return status;
    } finally {
      sessions.remove(session.id());
    }
  }
}
