package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmId;
import org.hghca.cm.ConnectionParameters;
import org.hghca.cm.EventChannel;
import org.hghca.cm.PortSpace;
import org.hghca.verbs.QpType;

/**
 * The program ucmatose: makes connections, over which the server sends messages, then the client;
 * then the server ends them.
 */
public final class Ucmatose {
  private static final int RETRIES = 5;

  private final Options options;
  private final Endpoint endpoint;
  private final PrintWriter out;
  private final Participants connections;
  private int connectsLeft;
  private int disconnectsLeft;

  /**
   * What it is called with.
   *
   * @param server the address of the server; empty at the server
   * @param local the address of this end
   * @param typeOfService of the connections of a client
   * @param ackTimeout the code of the ACK timeout
   * @param migrate whether all identifiers move to a new event channel before the end
   */
  public record Options(
      Optional<InetSocketAddress> server,
      Optional<InetSocketAddress> local,
      int connections,
      Messages messages,
      OptionalInt typeOfService,
      OptionalInt ackTimeout,
      boolean migrate) {}

  public Ucmatose(Options options, Endpoint endpoint, PrintWriter out) {
    this.options = options;
    this.endpoint = endpoint;
    this.out = out;
    connections = new Participants("cmatose", out);
    connectsLeft = options.connections();
  }

  /** Runs it and returns its status, 0 for success. */
  public int run() throws InterruptedException {
    return connections.run(
        () -> options.server().isPresent() ? client(options.server().get()) : serve());
  }

  private int serve() throws InterruptedException {
    out.println("cmatose: starting server");
    try (CmId listener = endpoint.createId(PortSpace.TCP)) {
      Failures.check("bind address failed", () -> listener.bind(options.local().orElseThrow()));
      Failures.check("failure trying to listen", () -> listener.listen(0));
      int status = connectEvents();
      if (status != 0) {
        return status;
      }
      if (options.messages().count() > 0) {
        out.println("initiating data transfers");
        connections.postSends();
        out.println("completing sends");
        connections.awaitSends();
        out.println("receiving data transfers");
        connections.awaitReceives();
        out.println("data transfers complete");
      }
      if (options.migrate()) {
        migrate(Optional.of(listener));
      }
      out.println("cmatose: disconnecting");
      for (Participant connection : connections.connected()) {
        connection.connected(false);
        connection.id().disconnect();
      }
      status = disconnectEvents();
      out.println("disconnected");
      return status;
    }
  }

  private int client(InetSocketAddress server) throws InterruptedException {
    out.println("cmatose: starting client");
    out.println("cmatose: connecting");
    for (int i = 0; i < options.connections(); i++) {
      CmId id = endpoint.createId(PortSpace.TCP);
      connections.add(id);
      Failures.check("failure getting addr", () -> Endpoint.resolve(id, options.local(), server));
    }
    int status = connectEvents();
    if (status == 0 && options.messages().count() > 0) {
      out.println("receiving data transfers");
      connections.awaitReceives();
      out.println("sending replies");
      connections.postSends();
      out.println("data transfers complete");
    }
    if (status == 0 && options.migrate()) {
      migrate(Optional.empty());
    }
    int ended = disconnectEvents();
    return ended == 0 ? status : ended;
  }

  private void migrate(Optional<CmId> listener) {
    out.println("migrating to new event channel");
    try (EventChannel _ = endpoint.migrate()) {
      listener.ifPresent(id -> id.migrate(endpoint.channel()));
      connections.all().forEach(connection -> connection.id().migrate(endpoint.channel()));
    }
  }

  private int connectEvents() throws InterruptedException {
    int status = 0;
    while (connectsLeft > 0 && status == 0) {
      status = next();
    }
    return status;
  }

  private int disconnectEvents() throws InterruptedException {
    int status = 0;
    int ended = disconnectsLeft;
    while (disconnectsLeft > 0 && status == 0) {
      status = next();
    }
    endpoint.awaitTimeWait(ended);
    return status;
  }

  private int next() throws InterruptedException {
    try (CmEvent event = endpoint.await()) {
      return handle(event);
    }
  }

  private int handle(CmEvent event) {
    switch (event.type()) {
      case ADDR_RESOLVED -> addressResolved(event.id());
      case ROUTE_RESOLVED -> routeResolved(connections.of(event.id()));
      case CONNECT_REQUEST -> requested(event.id());
      case ESTABLISHED -> {
        connections.of(event.id()).connected(true);
        connectsLeft--;
        disconnectsLeft++;
      }
      case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED -> {
        connectsLeft--;
        return connections.failed(event);
      }
      case DISCONNECTED -> {
        if (connections.of(event.id()).isConnected()) {
          event.id().disconnect();
        }
        disconnectsLeft--;
      }
      default -> {
        // As the original, it goes on.
      }
    }
    return 0;
  }

  private void addressResolved(CmId id) {
    options.typeOfService().ifPresent(id::typeOfService);
    options.ackTimeout().ifPresent(id::ackTimeout);
    Failures.check("resolve route failed", () -> id.resolveRoute(Endpoint.RESOLUTION));
  }

  private void routeResolved(Participant connection) {
    prepare(connection);
    ConnectionParameters parameters =
        ConnectionParameters.DEFAULT
            .withResponderResources(1)
            .withInitiatorDepth(1)
            .withRetryCount(RETRIES)
            .withRnrRetryCount(0);
    Failures.check("failure connecting", () -> connection.id().connect(parameters));
  }

  private void requested(CmId id) {
    connections
        .admit(id, options.connections())
        .ifPresent(
            connection -> {
              prepare(connection);
              options.ackTimeout().ifPresent(id::ackTimeout);
              Failures.check("failure accepting", () -> id.accept(ConnectionParameters.DEFAULT));
            });
  }

  private void prepare(Participant connection) {
    connection.prepare(QpType.RC, options.messages(), true);
  }
}
