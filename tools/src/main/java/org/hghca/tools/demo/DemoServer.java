package org.hghca.tools.demo;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.hghca.programs.NotOpenedException;
import org.hghca.programs.peer.PeerException;

/**
 * The server of a demo whose client is another process. It serves one client after another; other
 * clients wait. Thread-safe.
 */
public final class DemoServer implements AutoCloseable {
  private static final Duration HANDSHAKE = Duration.ofSeconds(5);
  private static final int WAITING_CLIENTS = 16;

  private final String device;
  private final PrintWriter steps;
  private final Consumer<RuntimeException> failures;
  private final ServerSocketChannel listener;
  private final InetSocketAddress address;
  private Optional<TcpRendezvous> current = Optional.empty();
  private boolean ended;

  /**
   * A server that clients can connect to.
   *
   * @param device name or locator
   * @param address with port 0 for any free one
   * @param steps receives the steps
   * @param failures receives the failures of clients
   * @throws PeerException when the address cannot be bound
   */
  public DemoServer(
      String device,
      InetSocketAddress address,
      PrintWriter steps,
      Consumer<RuntimeException> failures) {
    this.device = device;
    this.steps = steps;
    this.failures = failures;
    listener = listen(address);
    this.address = new InetSocketAddress(address.getAddress(), listener.socket().getLocalPort());
  }

  private static ServerSocketChannel listen(InetSocketAddress address) {
    if (address.isUnresolved()) {
      throw new PeerException("there is no host '%s'".formatted(address.getHostString()));
    }
    try {
      ServerSocketChannel listener = ServerSocketChannel.open();
      try {
        return listener.bind(address, WAITING_CLIENTS);
      } catch (IOException e) {
        listener.close();
        throw e;
      }
    } catch (IOException e) {
      throw new PeerException(
          "cannot listen on %s: %s".formatted(TcpRendezvous.text(address), e.getMessage()), e);
    }
  }

  /** The address that clients connect to. */
  public InetSocketAddress address() {
    return address;
  }

  /**
   * Opens the device, waits for a client, and runs the demo with it. A connection that is no client
   * is reported as a failure, and the wait continues.
   *
   * @return whether all checks passed; false also when the server was closed
   * @throws NotOpenedException when the device cannot be opened
   */
  public boolean serve() {
    try (Side side = Side.open(Side.SERVER, device)) {
      steps.println(
          "waiting for a client on %s, device %s".formatted(TcpRendezvous.text(address), device));
      Optional<Boolean> outcome = Optional.empty();
      while (outcome.isEmpty() && !isEnded()) {
        try (TcpRendezvous client = accept()) {
          outcome = Optional.of(serve(side, client));
        } catch (PeerException e) {
          report(e);
        }
      }
      return outcome.orElse(false);
    }
  }

  private TcpRendezvous accept() {
    try {
      SocketChannel channel = listener.accept();
      TcpRendezvous client = TcpRendezvous.of(Side.CLIENT, channel, HANDSHAKE);
      begin(client);
      return client;
    } catch (IOException e) {
      if (isEnded()) {
        throw new PeerException("the server was ended", e);
      }
      throw new UncheckedIOException(e);
    }
  }

  private boolean serve(Side side, TcpRendezvous client) {
    client.sendGreeting();
    client.receiveGreeting();
    Plan plan = Plan.MESSAGE.receive(client, Side.CLIENT);
    steps.println("serving the " + client.peer());
    client.limit(TcpRendezvous.limit(side, plan));
    try {
      new DemoRun(Sides.ofServer(side, client, new Journal(steps))).run(plan);
      return true;
    } catch (RuntimeException e) {
      client.sendFailure(e);
      report(e);
      return false;
    }
  }

  private void report(RuntimeException e) {
    if (!isEnded()) {
      failures.accept(e);
    }
  }

  private synchronized void begin(TcpRendezvous client) {
    if (ended) {
      client.close();
    }
    current = Optional.of(client);
  }

  private synchronized boolean isEnded() {
    return ended;
  }

  /** Ends {@link #serve}, also in the middle of a demo. */
  @Override
  public synchronized void close() {
    ended = true;
    try {
      listener.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    current.ifPresent(TcpRendezvous::close);
  }
}
