package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmId;
import org.hghca.cm.DatagramParameters;
import org.hghca.cm.PortSpace;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QpType;

/** The program mckey: joins a multicast group, and sends to it or receives from it. */
public final class Mckey {
  /** How long a sender leaves the switches, and receivers that start with it. */
  private static final int PAUSE_SECONDS = 3;

  private final Options options;
  private final Endpoint endpoint;
  private final Function<Gid, String> gidText;
  private final PrintWriter out;
  private final Participants members;
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
    members = new Participants("mckey", out);
    connectsLeft = options.connections();
  }

  /** Runs it and returns its status, 0 for success. */
  public int run() throws InterruptedException {
    return members.run(
        () -> {
          int status = join();
          if (status == 0) {
            exchange();
          }
          leave();
          return status;
        });
  }

  private int join() throws InterruptedException {
    out.println("mckey: starting " + (options.sends() ? "client" : "server"));
    out.println("mckey: joining");
    for (int i = 0; i < options.connections(); i++) {
      CmId id = endpoint.createId(PortSpace.UDP);
      members.add(id);
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
      members.postSends();
      members.awaitSends();
    } else {
      out.println("receiving data transfers");
      members.awaitReceives();
    }
    out.println("data transfers complete");
  }

  private void leave() {
    for (Participant member : members.connected()) {
      Failures.check(
          "failure leaving", () -> member.id().leaveMulticast(options.group().getAddress()));
    }
  }

  private int handle(CmEvent event) {
    Participant member = members.of(event.id());
    switch (event.type()) {
      case ADDR_RESOLVED -> addressResolved(member);
      case MULTICAST_JOIN -> joined(member, event.datagram().orElseThrow());
      case ADDR_ERROR, ROUTE_ERROR, MULTICAST_ERROR -> {
        connectsLeft--;
        return members.failed(event);
      }
      default -> {
        // As the original, it goes on.
      }
    }
    return 0;
  }

  private void addressResolved(Participant member) {
    endpoint.checkDatagram(options.messages());
    member.prepare(QpType.UD, options.messages(), !options.sends());
    Failures.check(
        "failure joining", () -> member.id().joinMulticast(options.group().getAddress()));
  }

  private void joined(Participant member, DatagramParameters group) {
    out.println(
        "mckey: joined dgid: %s mlid 0x0 sl %d"
            .formatted(gidText.apply(group.vector().destination()), group.vector().serviceLevel()));
    member.node().peer(group.vector(), group.qpNumber(), group.qkey());
    member.connected(true);
    connectsLeft--;
  }
}
