package org.hghca.examples;

import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.hghca.cm.CarrierKind;
import org.hghca.verbs.CompletionQueue;
import org.hghca.verbs.Completions;
import org.hghca.verbs.Context;

/**
 * One end of a program: its device, the way to the other end, and its output.
 *
 * @param role server or client
 * @param context of its device, which {@link Main} opens and closes
 * @param bind where a server is to listen, with port 0 for any
 * @param listening where the server listens, as soon as it does
 * @param carrier by which connections by address are set up
 * @param arguments that are left on the command line
 * @param out prints what the end says
 */
record End(
    String role,
    Context context,
    InetSocketAddress bind,
    CompletableFuture<InetSocketAddress> listening,
    CarrierKind carrier,
    List<String> arguments,
    PrintStream out) {

  /** How long an end waits for the other one before it gives up. */
  static final Duration PATIENCE = Duration.ofSeconds(20);

  void say(String what) {
    out.println(role + ": " + what);
  }

  /** Called by a server that listens, on the port of the address. */
  void listening(InetSocketAddress address) {
    say("listening on port " + address.getPort());
    ready(address);
  }

  /** Called by a server that a client may address from now on. */
  void ready(InetSocketAddress address) {
    listening.complete(address);
  }

  /** The address of the server, for a client; waits until it listens. */
  InetSocketAddress server() throws InterruptedException, ExecutionException {
    return listening.get();
  }

  /** Waits for one completion of a queue, by polling; it must be a success. */
  static Completions await(CompletionQueue cq) throws TimeoutException, InterruptedException {
    long start = System.nanoTime();
    Optional<Completions> one;
    while ((one = poll(cq)).isEmpty()) {
      if (System.nanoTime() - start > PATIENCE.toNanos()) {
        throw new TimeoutException("no completion within %d s".formatted(PATIENCE.toSeconds()));
      }
    }
    return one.get();
  }

  /** Takes one completion of a queue if there is one; it must be a success. */
  static Optional<Completions> poll(CompletionQueue cq) throws InterruptedException {
    Completions one = new Completions(1); // a program keeps it, with room for many
    if (cq.poll(one) == 0) {
      // A program with a core to itself spins: Thread.onSpinWait(). Virtual threads that yield may
      // keep their carrier from others.
      Thread.sleep(Duration.ofNanos(10_000));
      return Optional.empty();
    }
    check(one.isSuccess(0), "a request failed: " + one.describe(0));
    return Optional.of(one);
  }

  /**
   * Ends the program where something is not as it must be.
   *
   * @throws IllegalStateException with the message, unless the condition holds
   */
  static void check(boolean condition, String message) {
    if (!condition) {
      throw new IllegalStateException(message);
    }
  }
}
