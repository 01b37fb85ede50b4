package org.hghca.tools.rdmacm;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmId;
import org.hghca.cm.ConnectionParameters;
import org.hghca.cm.EventChannel;
import org.hghca.cm.PortSpace;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;

/**
 * The program ucmatose: makes connections, over which the server sends messages, then the client;
 * then the server ends them.
 */
public final class Ucmatose {
  private static final int RETRIES = 5;

  private final Options options;
  private final Endpoint endpoint;
  private final PrintWriter out;
  private final List<Connection> connections = new ArrayList<>();
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

  private static final class Connection {
    private final CmId id;
    private Optional<Node> node = Optional.empty();
    private boolean connected;

    Connection(CmId id) {
      this.id = id;
    }

    Node node() {
      return node.orElseThrow();
    }

    void close() {
      node.ifPresent(Node::close);
      id.close();
    }
  }

  public Ucmatose(Options options, Endpoint endpoint, PrintWriter out) {
    this.options = options;
    this.endpoint = endpoint;
    this.out = out;
    connectsLeft = options.connections();
  }

  /** Runs it and returns its status, 0 for success. */
  public int run() throws InterruptedException {
    int status;
    try {
      status = options.server().isPresent() ? client(options.server().get()) : serve();
    } catch (FailedException e) {
      out.println("cmatose: " + e.getMessage());
      status = e.status();
    } finally {
      connections.forEach(Connection::close);
    }
    out.println("test complete");
    out.println("return status " + status);
    return status;
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
        connected().forEach(connection -> connection.node().postSends());
        out.println("completing sends");
        for (Connection connection : connected()) {
          connection.node().awaitSends();
        }
        out.println("receiving data transfers");
        for (Connection connection : connected()) {
          connection.node().awaitReceives();
        }
        out.println("data transfers complete");
      }
      if (options.migrate()) {
        migrate(Optional.of(listener));
      }
      out.println("cmatose: disconnecting");
      for (Connection connection : connected()) {
        connection.connected = false;
        connection.id.disconnect();
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
      connections.add(new Connection(id));
      Failures.check("failure getting addr", () -> Endpoint.resolve(id, options.local(), server));
    }
    int status = connectEvents();
    if (status == 0 && options.messages().count() > 0) {
      out.println("receiving data transfers");
      for (Connection connection : connected()) {
        connection.node().awaitReceives();
      }
      out.println("sending replies");
      connected().forEach(connection -> connection.node().postSends());
      out.println("data transfers complete");
    }
    if (status == 0 && options.migrate()) {
      migrate(Optional.empty());
    }
    int ended = disconnectEvents();
    return ended == 0 ? status : ended;
  }

  private List<Connection> connected() {
    return connections.stream().filter(connection -> connection.connected).toList();
  }

  private void migrate(Optional<CmId> listener) {
    out.println("migrating to new event channel");
    try (EventChannel _ = endpoint.migrate()) {
      listener.ifPresent(id -> id.migrate(endpoint.channel()));
      connections.forEach(connection -> connection.id.migrate(endpoint.channel()));
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
      case ROUTE_RESOLVED -> routeResolved(connection(event.id()));
      case CONNECT_REQUEST -> requested(event.id());
      case ESTABLISHED -> {
        connection(event.id()).connected = true;
        connectsLeft--;
        disconnectsLeft++;
      }
      case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED -> {
        out.println(
            "cmatose: event: %s, error: %d".formatted(event.type().symbol(), event.status()));
        connectsLeft--;
        return event.status();
      }
      case DISCONNECTED -> {
        if (connection(event.id()).connected) {
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

  private Connection connection(CmId id) {
    return connections.stream().filter(connection -> connection.id == id).findFirst().orElseThrow();
  }

  private void addressResolved(CmId id) {
    options.typeOfService().ifPresent(id::typeOfService);
    options.ackTimeout().ifPresent(id::ackTimeout);
    Failures.check("resolve route failed", () -> id.resolveRoute(Endpoint.RESOLUTION));
  }

  private void routeResolved(Connection connection) {
    prepare(connection);
    ConnectionParameters parameters =
        ConnectionParameters.DEFAULT
            .withResponderResources(1)
            .withInitiatorDepth(1)
            .withRetryCount(RETRIES)
            .withRnrRetryCount(0);
    Failures.check("failure connecting", () -> connection.id.connect(parameters));
  }

  private void requested(CmId id) {
    if (connections.size() == options.connections()) {
      out.println("cmatose: failing connection request");
      id.reject(new byte[0]);
      id.close();
      return;
    }
    Connection connection = new Connection(id);
    connections.add(connection);
    prepare(connection);
    options.ackTimeout().ifPresent(id::ackTimeout);
    Failures.check("failure accepting", () -> id.accept(ConnectionParameters.DEFAULT));
  }

  /** Makes the queue pair and posts all receives: a peer that finds none gives up at once. */
  private void prepare(Connection connection) {
    try {
      Node node =
          new Node(
              QpType.RC,
              connection.id.context().allocateProtectionDomain(),
              options.messages(),
              connection.id::createQueuePair);
      connection.node = Optional.of(node);
      node.postReceives();
    } catch (VerbsException e) {
      throw new FailedException(-1, "unable to create QP: " + e.getMessage());
    }
  }
}
