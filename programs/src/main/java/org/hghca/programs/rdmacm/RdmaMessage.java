package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.cm.ConnectionParameters;
import org.hghca.cm.PortSpace;
import org.hghca.verbs.QpType;

/** The programs rdma_client and rdma_server: one message of 16 bytes each way. */
public final class RdmaMessage {
  private static final Messages ONE = new Messages(1, 16);

  private final Endpoint endpoint;
  private final PrintWriter out;
  private final PrintWriter err;

  public RdmaMessage(Endpoint endpoint, PrintWriter out, PrintWriter err) {
    this.endpoint = endpoint;
    this.out = out;
    this.err = err;
  }

  private interface Run {
    void run() throws InterruptedException;
  }

  /** The client: connects to a server. Returns the status of the program, 0 for success. */
  public int client(InetSocketAddress server) throws InterruptedException {
    return run("rdma_client", () -> connect(server));
  }

  /** The server: takes one connection. Returns the status of the program, 0 for success. */
  public int serve(InetSocketAddress local) throws InterruptedException {
    return run("rdma_server", () -> accept(local));
  }

  private int run(String name, Run program) throws InterruptedException {
    out.println(name + ": start");
    int status = 0;
    try {
      program.run();
    } catch (FailedException e) {
      err.println(e.getMessage());
      status = e.status();
    }
    out.println("%s: end %d".formatted(name, status));
    return status;
  }

  private void connect(InetSocketAddress server) throws InterruptedException {
    try (CmId id = endpoint.createId(PortSpace.TCP)) {
      Failures.check("rdma_create_ep", () -> id.resolveAddress(server, Endpoint.RESOLUTION));
      await("rdma_create_ep", CmEventType.ADDR_RESOLVED);
      Failures.check("rdma_create_ep", () -> id.resolveRoute(Endpoint.RESOLUTION));
      await("rdma_create_ep", CmEventType.ROUTE_RESOLVED);
      try (Node node = node(id)) {
        Failures.check("rdma_connect", () -> id.connect(ConnectionParameters.DEFAULT));
        await("rdma_connect", CmEventType.ESTABLISHED);
        node.postSends();
        node.awaitSends();
        node.awaitReceives();
        id.disconnect();
        await("rdma_disconnect", CmEventType.DISCONNECTED);
        endpoint.awaitTimeWait(1);
      }
    }
  }

  private void accept(InetSocketAddress local) throws InterruptedException {
    try (CmId listener = endpoint.createId(PortSpace.TCP)) {
      Failures.check("rdma_create_ep", () -> listener.bind(local));
      Failures.check("rdma_listen", () -> listener.listen(0));
      try (CmId id = await("rdma_get_request", CmEventType.CONNECT_REQUEST);
          Node node = node(id)) {
        Failures.check("rdma_accept", () -> id.accept(ConnectionParameters.DEFAULT));
        await("rdma_accept", CmEventType.ESTABLISHED);
        node.awaitReceives();
        node.postSends();
        node.awaitSends();
        id.disconnect();
        await("rdma_disconnect", CmEventType.DISCONNECTED);
        endpoint.awaitTimeWait(1);
      }
    }
  }

  private static Node node(CmId id) {
    Node node =
        new Node(QpType.RC, id.context().allocateProtectionDomain(), ONE, id::createQueuePair);
    node.postReceives();
    return node;
  }

  /** Waits for an event; another one that ends the attempt fails the step. */
  private CmId await(String step, CmEventType wanted) throws InterruptedException {
    while (true) {
      try (CmEvent event = endpoint.await()) {
        if (event.type() == wanted) {
          return event.id();
        }
        switch (event.type()) {
          case ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, UNREACHABLE, DISCONNECTED ->
              throw new FailedException(-1, step + ": " + event.message());
          case REJECTED -> throw new FailedException(-1, step + ": Connection refused");
          default -> {
            // On the way to what is wanted.
          }
        }
      }
    }
  }
}
