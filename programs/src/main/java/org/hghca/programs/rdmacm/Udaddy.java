package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmId;
import org.hghca.cm.ConnectionParameters;
import org.hghca.cm.DatagramParameters;
import org.hghca.cm.PortSpace;
import org.hghca.verbs.QpType;

/**
 * The program udaddy: the client asks for UD queue pairs and sends datagrams to them; the server
 * answers as many to whoever sent the first one.
 */
public final class Udaddy {
  private final Options options;
  private final Endpoint endpoint;
  private final PrintWriter out;
  private final Participants services;
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

  public Udaddy(Options options, Endpoint endpoint, PrintWriter out) {
    this.options = options;
    this.endpoint = endpoint;
    this.out = out;
    services = new Participants("udaddy", out);
    connectsLeft = options.connections();
  }

  /** Runs it and returns its status, 0 for success. */
  public int run() throws InterruptedException {
    return services.run(
        () -> options.server().isPresent() ? client(options.server().get()) : serve());
  }

  private int serve() throws InterruptedException {
    out.println("udaddy: starting server");
    try (CmId listener = endpoint.createId(PortSpace.UDP)) {
      Failures.check("bind address failed", () -> listener.bind(options.local().orElseThrow()));
      Failures.check("failure trying to listen", () -> listener.listen(0));
      int status = connectEvents();
      if (status == 0 && options.messages().count() > 0) {
        out.println("receiving data transfers");
        for (Participant service : services.connected()) {
          service.node().awaitReceives(service.node().queuePair().query().qkey());
        }
        out.println("sending replies");
        services.postSends();
        services.awaitSends();
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
      services.add(id);
      Failures.check("failure getting addr", () -> Endpoint.resolve(id, options.local(), server));
    }
    int status = connectEvents();
    if (status == 0 && options.messages().count() > 0) {
      out.println("initiating data transfers");
      services.postSends();
      out.println("receiving data transfers");
      services.awaitReceives();
      out.println("data transfers complete");
    }
    return status;
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
        prepare(services.of(event.id()));
        Failures.check(
            "failure connecting", () -> event.id().connect(ConnectionParameters.DEFAULT));
      }
      case CONNECT_REQUEST -> requested(event.id());
      case ESTABLISHED -> resolved(services.of(event.id()), event.datagram().orElseThrow());
      case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, REJECTED -> {
        connectsLeft--;
        return services.failed(event);
      }
      default -> {
        // As the original, it goes on.
      }
    }
    return 0;
  }

  private void requested(CmId id) {
    services
        .admit(id, options.connections())
        .ifPresent(
            service -> {
              prepare(service);
              Failures.check("failure accepting", () -> id.accept(ConnectionParameters.DEFAULT));
              ready(service);
            });
  }

  private void resolved(Participant service, DatagramParameters to) {
    service.node().peer(to.vector(), to.qpNumber(), to.qkey());
    ready(service);
  }

  private void ready(Participant service) {
    service.connected(true);
    connectsLeft--;
  }

  private void prepare(Participant service) {
    endpoint.checkDatagram(options.messages());
    service.prepare(QpType.UD, options.messages(), true);
  }
}
