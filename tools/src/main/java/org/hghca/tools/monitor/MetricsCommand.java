package org.hghca.tools.monitor;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.hghca.programs.ExitCode;
import org.hghca.programs.OutlivesReader;
import org.hghca.provider.snapshot.OpenMetrics;
import org.hghca.provider.snapshot.SnapshotDirectory.Found;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code hghca metrics}: the counters of running programs for collectors such as Prometheus. */
@Command(
    name = "metrics",
    description = {
      "Print the counters of all running programs of this user as OpenMetrics text, or serve them"
          + " by HTTP, at /metrics.",
      "SIGTERM or Ctrl-C ends a server with exit code 0."
    })
public final class MetricsCommand implements Callable<Integer>, OutlivesReader {
  @Spec private CommandSpec spec;

  @Option(
      names = "--listen",
      paramLabel = "<address:port>",
      converter = Address.class,
      description =
          "Serve them there, such as 127.0.0.1:9464, without encryption or authentication.")
  private Optional<InetSocketAddress> listen = Optional.empty();

  /** An address and a port; {@code [::1]:9464} of IPv6. */
  static final class Address implements ITypeConverter<InetSocketAddress> {
    @Override
    public InetSocketAddress convert(String text) {
      int colon = text.lastIndexOf(':');
      try {
        if (colon > 0) {
          String host = text.substring(0, colon).replaceAll("^\\[(.*)]$", "$1");
          return new InetSocketAddress(host, Integer.parseInt(text.substring(colon + 1)));
        }
      } catch (IllegalArgumentException e) {
        // Told below.
      }
      throw new TypeConversionException(
          "'" + text + "' is no address and port, such as 127.0.0.1:9464");
    }
  }

  @Override
  public Integer call() {
    PrintWriter err = spec.commandLine().getErr();
    Optional<RunningPrograms> programs = RunningPrograms.find(err);
    if (programs.isEmpty()) {
      return ExitCode.FAILED.code();
    }
    if (listen.isPresent()) {
      return serve(programs.get(), listen.get(), err);
    }
    spec.commandLine().getOut().print(text(programs.get(), err));
    return ExitCode.OK.code();
  }

  private static String text(RunningPrograms programs, PrintWriter err) {
    return OpenMetrics.text(programs.read(err).stream().map(Found::snapshot).toList());
  }

  private int serve(RunningPrograms programs, InetSocketAddress address, PrintWriter err) {
    try (MetricsServer server = MetricsServer.start(address, () -> text(programs, err))) {
      PrintWriter out = spec.commandLine().getOut();
      out.println("metrics at " + server.url());
      out.flush();
      // An orderly end, not the termination by a signal that the JVM would report.
      Thread hook = new Thread(() -> Runtime.getRuntime().halt(ExitCode.OK.code()));
      Runtime.getRuntime().addShutdownHook(hook);
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException e) {
        // Its caller ends it.
      } finally {
        Runtime.getRuntime().removeShutdownHook(hook);
      }
      return ExitCode.OK.code();
    } catch (IOException e) {
      err.println("hghca: cannot listen on %s: %s".formatted(address, e.getMessage()));
      return ExitCode.FAILED.code();
    }
  }
}
