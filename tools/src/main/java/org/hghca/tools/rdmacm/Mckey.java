package org.hghca.tools.rdmacm;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmId;
import org.hghca.cm.DatagramParameters;
import org.hghca.cm.PortSpace;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;

/** The program mckey: joins a multicast group, and sends to it or receives from it. */
public final class Mckey {
  /** How long a sender leaves the switches, and receivers that start with it. */
  private static final int PAUSE_SECONDS = 3;

  private final Options options;
  private final Endpoint endpoint;
  private final Function<Gid, String> gidText;
  private final PrintWriter out;
  private final List<Member> members = new ArrayList<>();
  private int connectsLeft;

  /**
   * What it is called with.
   *
   * @param group its address
   * @param local the address of this end
   * @param sends whether it sends
   * @param connections how many queue pairs
   */
  public record Options(
      InetSocketAddress group,
      Optional<InetSocketAddress> local,
      boolean sends,
      int connections,
      Messages messages) {}

  private static final class Member {
    private final CmId id;
    private Optional<Node> node = Optional.empty();
    private boolean joined;

    Member(CmId id) {
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

  /**
   * With these options.
   *
   * @param gidText how a GID is printed
   */
  public Mckey(Options options, Endpoint endpoint, Function<Gid, String> gidText, PrintWriter out) {
    this.options = options;
    this.endpoint = endpoint;
    this.gidText = gidText;
    this.out = out;
    connectsLeft = options.connections();
  }

  /** Runs it and returns its status, 0 for success. */
  public int run() throws InterruptedException {
    int status;
    try {
      status = join();
      if (status == 0) {
        exchange();
      }
      leave();
    } catch (FailedException e) {
      out.println("mckey: " + e.getMessage());
      status = e.status();
    } finally {
      members.forEach(Member::close);
    }
    out.println("test complete");
    out.println("return status " + status);
    return status;
  }

  private int join() throws InterruptedException {
    out.println("mckey: starting " + (options.sends() ? "client" : "server"));
    out.println("mckey: joining");
    for (int i = 0; i < options.connections(); i++) {
      CmId id = endpoint.createId(PortSpace.UDP);
      members.add(new Member(id));
      options.local().ifPresent(local -> Failures.check("addr bind failure", () -> id.bind(local)));
      Failures.check(
          "resolve addr failure", () -> id.resolveAddress(options.group(), Endpoint.RESOLUTION));
    }
    int status = 0;
    while (connectsLeft > 0 && status == 0) {
      try (CmEvent event = endpoint.await()) {
        status = handle(event);
      }
    }
    return status;
  }

  private void exchange() throws InterruptedException {
    if (options.messages().count() == 0) {
      return;
    }
    if (options.sends()) {
      TimeUnit.SECONDS.sleep(PAUSE_SECONDS);
      out.println("initiating data transfers");
      members.forEach(member -> member.node().postSends());
      for (Member member : members) {
        member.node().awaitSends();
      }
    } else {
      out.println("receiving data transfers");
      for (Member member : members) {
        member.node().awaitReceives();
      }
    }
    out.println("data transfers complete");
  }

  private void leave() {
    for (Member member : members) {
      if (member.joined) {
        Failures.check(
            "failure leaving", () -> member.id.leaveMulticast(options.group().getAddress()));
      }
    }
  }

  private int handle(CmEvent event) {
    Member member =
        members.stream().filter(known -> known.id == event.id()).findFirst().orElseThrow();
    switch (event.type()) {
      case ADDR_RESOLVED -> addressResolved(member);
      case MULTICAST_JOIN -> joined(member, event.datagram().orElseThrow());
      case ADDR_ERROR, ROUTE_ERROR, MULTICAST_ERROR -> {
        out.println("mckey: event: %s, error: %d".formatted(event.type().symbol(), event.status()));
        connectsLeft--;
        return event.status();
      }
      default -> {
        // As the original, it goes on.
      }
    }
    return 0;
  }

  private void addressResolved(Member member) {
    endpoint.checkDatagram(options.messages());
    try {
      Node node =
          new Node(
              QpType.UD,
              member.id.context().allocateProtectionDomain(),
              options.messages(),
              member.id::createQueuePair);
      member.node = Optional.of(node);
      if (!options.sends()) {
        node.postReceives();
      }
    } catch (VerbsException e) {
      throw new FailedException(-1, "unable to create QP: " + e.getMessage());
    }
    Failures.check("failure joining", () -> member.id.joinMulticast(options.group().getAddress()));
  }

  private void joined(Member member, DatagramParameters group) {
    out.println(
        "mckey: joined dgid: %s mlid 0x0 sl %d"
            .formatted(gidText.apply(group.vector().destination()), group.vector().serviceLevel()));
    member.node().peer(group.vector(), group.qpNumber(), group.qkey());
    member.joined = true;
    connectsLeft--;
  }
}
