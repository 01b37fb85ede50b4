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
import org.hghca.cm.DatagramParameters;
import org.hghca.cm.PortSpace;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;

/**
 * The program udaddy: the client asks for UD queue pairs and sends datagrams to them; the server
 * answers as many to whoever sent the first one.
 */
public final class Udaddy {
  private final Options options;
  private final Endpoint endpoint;
  private final PrintWriter out;
  private final List<Service> services = new ArrayList<>();
  private int connectsLeft;

  /**
   * What it is called with.
   *
   * @param server the address of the server; empty at the server
   * @param local the address of this end
   * @param connections how many queue pairs
   * @param typeOfService of the datagrams of a client
   */
  public record Options(
      Optional<InetSocketAddress> server,
      Optional<InetSocketAddress> local,
      int connections,
      Messages messages,
      OptionalInt typeOfService) {}

  private static final class Service {
    private final CmId id;
    private Optional<Node> node = Optional.empty();
    private boolean connected;

    Service(CmId id) {
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

  public Udaddy(Options options, Endpoint endpoint, PrintWriter out) {
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
      out.println("udaddy: " + e.getMessage());
      status = e.status();
    } finally {
      services.forEach(Service::close);
    }
    out.println("test complete");
    out.println("return status " + status);
    return status;
  }

  private int serve() throws InterruptedException {
    out.println("udaddy: starting server");
    try (CmId listener = endpoint.createId(PortSpace.UDP)) {
      Failures.check("bind address failed", () -> listener.bind(options.local().orElseThrow()));
      Failures.check("failure trying to listen", () -> listener.listen(0));
      int status = connectEvents();
      if (status == 0 && options.messages().count() > 0) {
        out.println("receiving data transfers");
        for (Service service : connected()) {
          service.node().awaitReceives(service.node().queuePair().query().qkey());
        }
        out.println("sending replies");
        connected().forEach(service -> service.node().postSends());
        for (Service service : connected()) {
          service.node().awaitSends();
        }
        out.println("data transfers complete");
      }
      return status;
    }
  }

  private int client(InetSocketAddress server) throws InterruptedException {
    out.println("udaddy: starting client");
    out.println("udaddy: connecting");
    for (int i = 0; i < options.connections(); i++) {
      CmId id = endpoint.createId(PortSpace.UDP);
      services.add(new Service(id));
      Failures.check("failure getting addr", () -> Endpoint.resolve(id, options.local(), server));
    }
    int status = connectEvents();
    if (status == 0 && options.messages().count() > 0) {
      out.println("initiating data transfers");
      connected().forEach(service -> service.node().postSends());
      out.println("receiving data transfers");
      for (Service service : connected()) {
        service.node().awaitReceives();
      }
      out.println("data transfers complete");
    }
    return status;
  }

  private List<Service> connected() {
    return services.stream().filter(service -> service.connected).toList();
  }

  private int connectEvents() throws InterruptedException {
    int status = 0;
    while (connectsLeft > 0 && status == 0) {
      try (CmEvent event = endpoint.await()) {
        status = handle(event);
      }
    }
    return status;
  }

  private int handle(CmEvent event) {
    switch (event.type()) {
      case ADDR_RESOLVED -> {
        options.typeOfService().ifPresent(event.id()::typeOfService);
        Failures.check("resolve route failed", () -> event.id().resolveRoute(Endpoint.RESOLUTION));
      }
      case ROUTE_RESOLVED -> {
        prepare(service(event.id()));
        Failures.check(
            "failure connecting", () -> event.id().connect(ConnectionParameters.DEFAULT));
      }
      case CONNECT_REQUEST -> requested(event.id());
      case ESTABLISHED -> resolved(service(event.id()), event.datagram().orElseThrow());
      case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED -> {
        out.println(
            "udaddy: event: %s, error: %d".formatted(event.type().symbol(), event.status()));
        connectsLeft--;
        return event.status();
      }
      default -> {
        // As the original, it goes on.
      }
    }
    return 0;
  }

  private Service service(CmId id) {
    return services.stream().filter(service -> service.id == id).findFirst().orElseThrow();
  }

  private void requested(CmId id) {
    if (services.size() == options.connections()) {
      out.println("udaddy: failing connection request");
      id.reject(new byte[0]);
      id.close();
      return;
    }
    Service service = new Service(id);
    services.add(service);
    prepare(service);
    Failures.check("failure accepting", () -> id.accept(ConnectionParameters.DEFAULT));
    service.connected = true;
    connectsLeft--;
  }

  private void resolved(Service service, DatagramParameters to) {
    service.node().peer(to.vector(), to.qpNumber(), to.qkey());
    service.connected = true;
    connectsLeft--;
  }

  private void prepare(Service service) {
    endpoint.checkDatagram(options.messages());
    try {
      Node node =
          new Node(
              QpType.UD,
              service.id.context().allocateProtectionDomain(),
              options.messages(),
              service.id::createQueuePair);
      service.node = Optional.of(node);
      node.postReceives();
    } catch (VerbsException e) {
      throw new FailedException(-1, "unable to create QP: " + e.getMessage());
    }
  }
}
