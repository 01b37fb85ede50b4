package org.hghca.examples;

import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.hghca.cm.CarrierKind;
import org.hghca.examples.CommandLine.Ends;
import org.hghca.examples.CommandLine.UsageException;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceFeature;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;

/** One run of a program: opens its devices, and runs one end or both. */
record Run(String name, Example example, CommandLine line, PrintStream out, PrintStream err) {

  /** Two software HCAs in this process, joined by a cable. */
  private static final List<String> SOFTWARE_HCAS =
      List.of("model:left?cable=examples", "model:right?cable=examples");

  /**
   * Runs it to its end.
   *
   * @throws UsageException when no device is named and there is no card
   */
  ExitCode run() throws UsageException {
    List<String> devices = devices();
    List<Context> contexts = new ArrayList<>();
    try {
      for (String device : devices) {
        contexts.add(RdmaDevices.open(device));
      }
      for (Context context : contexts) {
        for (DeviceFeature feature : example.needs()) {
          if (!context.queryDevice().has(feature)) {
            err.println(
                "%s: needs DeviceFeature.%s, which %s lacks"
                    .formatted(name, feature, context.device().name()));
            return ExitCode.UNSUPPORTED;
          }
        }
      }
      return runAll(ends(contexts));
    } catch (VerbsException e) {
      err.println("%s: %s".formatted(name, e.getMessage()));
      return ExitCode.NOT_OPENED;
    } finally {
      contexts.forEach(this::close);
    }
  }

  /**
   * An end that failed before all of its objects stood leaves some open, until the process ends.
   */
  private void close(Context context) {
    try {
      context.close();
    } catch (VerbsException e) {
      err.println("%s: %s".formatted(name, e.getMessage()));
    }
  }

  private List<String> devices() throws UsageException {
    List<String> named = line.devices();
    if (line.ends() instanceof Ends.Both) {
      return named.isEmpty() ? SOFTWARE_HCAS : List.of(named.getFirst(), named.getLast());
    }
    List<RdmaDevice> cards = named.isEmpty() ? RdmaDevices.list() : List.of();
    if (named.isEmpty() && cards.isEmpty()) {
      throw new UsageException("no card found: name a device that reaches the other end with -d");
    }
    return named.isEmpty() ? List.of(cards.getFirst().name()) : named;
  }

  /** The ends that this process runs. */
  private List<Callable<Void>> ends(List<Context> contexts) {
    var listening = new CompletableFuture<InetSocketAddress>();
    if (line.ends() instanceof Ends.Client(String host)) {
      listening.complete(new InetSocketAddress(host, line.port()));
    }
    var bind = new InetSocketAddress(bindAddress(contexts.getFirst()), line.port());
    List<Callable<Void>> ends = new ArrayList<>();
    if (!(line.ends() instanceof Ends.Client)) {
      Context device = contexts.getFirst();
      End end = new End("server", device, bind, listening, line.carrier(), line.arguments(), out);
      ends.add(
          () -> {
            example.server(end);
            return null;
          });
    }
    if (!(line.ends() instanceof Ends.Server)) {
      Context device = contexts.getLast();
      End end = new End("client", device, bind, listening, line.carrier(), line.arguments(), out);
      ends.add(
          () -> {
            example.client(end);
            return null;
          });
    }
    return ends;
  }

  /** A server of the InfiniBand connection manager listens on an address of its device. */
  private String bindAddress(Context server) {
    if (line.ends() instanceof Ends.Server(Optional<String> bind) && bind.isPresent()) {
      return bind.get();
    }
    return line.carrier() == CarrierKind.IB ? Mc.address(server).getHostString() : "localhost";
  }

  /**
   * Runs the ends, each in a virtual thread: there an interrupt also ends a wait for a socket, so
   * that no end waits for one that has failed.
   */
  private ExitCode runAll(List<Callable<Void>> ends) {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var ended = new ExecutorCompletionService<Void>(threads);
      ends.forEach(ended::submit);
      try {
        for (int i = 0; i < ends.size(); i++) {
          ended.take().get();
        }
        return ExitCode.OK;
      } catch (ExecutionException e) {
        err.println("%s: %s".formatted(name, e.getCause()));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        err.println(name + ": interrupted");
      }
      threads.shutdownNow();
      return ExitCode.FAILED;
    }
  }
}
