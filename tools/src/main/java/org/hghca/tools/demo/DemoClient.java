package org.hghca.tools.demo;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import org.hghca.programs.NotOpenedException;
import org.hghca.programs.peer.PeerException;

/** The client of a demo whose server is another process. */
public final class DemoClient {
  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final Duration BUSY = Duration.ofSeconds(1);
  private static final Duration GREETING = Duration.ofMinutes(1);

  private final String device;
  private final PrintWriter notes;
  private final Journal journal;

  /**
   * A client that is not connected yet.
   *
   * @param device name or locator
   * @param steps receives the steps
   * @param notes receives a line if the client has to wait for the server
   */
  public DemoClient(String device, PrintWriter steps, PrintWriter notes) {
    this.device = device;
    this.notes = notes;
    this.journal = new Journal(steps);
  }

  /**
   * Opens the device, connects, and runs the demo.
   *
   * @param server its address
   * @param nanos duration of all measurements, at most an hour
   * @param messageBytes the size of large messages, 8 to 2^20
   * @throws CheckFailedException when a check fails
   * @throws PeerException when the server cannot be reached, fails, or violates the protocol
   * @throws NotOpenedException when the device cannot be opened
   * @throws org.hghca.verbs.VerbsException when a verb fails
   */
  public DemoResult run(InetSocketAddress server, long nanos, int messageBytes) {
    Plan plan = new Plan(nanos, messageBytes);
    try (Side side = Side.open(Side.CLIENT, device);
        TcpRendezvous rendezvous = connect(server)) {
      rendezvous.sendGreeting();
      Plan.MESSAGE.send(rendezvous, plan);
      if (!rendezvous.hasInput(BUSY)) {
        notes.println("hghca: waiting for the server, which may be serving another client");
      }
      rendezvous.receiveGreeting();
      rendezvous.limit(TcpRendezvous.limit(side, plan));
      try {
        return new DemoRun(Sides.ofClient(side, rendezvous, journal)).run(plan);
      } catch (RuntimeException e) {
        rendezvous.sendFailure(e);
        throw e;
      }
    }
  }

  /** The passed checks, in order. */
  public List<String> checks() {
    return journal.checks();
  }

  private static TcpRendezvous connect(InetSocketAddress server) {
    if (server.isUnresolved()) {
      throw new PeerException("there is no host '%s'".formatted(server.getHostString()));
    }
    try {
      SocketChannel channel = SocketChannel.open();
      try {
        channel.socket().connect(server, (int) CONNECT.toMillis());
        return TcpRendezvous.of(Side.SERVER, channel, GREETING);
      } catch (IOException e) {
        channel.close();
        throw e;
      }
    } catch (IOException e) {
      throw new PeerException(
          "cannot connect to %s: %s; is 'hghca demo server' running there, and does it listen on that address?"
              .formatted(TcpRendezvous.text(server), e.getMessage()),
          e);
    }
  }
}
