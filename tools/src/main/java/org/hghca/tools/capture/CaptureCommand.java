package org.hghca.tools.capture;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.hghca.model.CaptureSocket;
import org.hghca.programs.CompletedValues;
import org.hghca.programs.ExitCode;
import org.hghca.programs.FileFailure;
import org.hghca.programs.Interruption;
import org.hghca.programs.OutlivesReader;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;
import org.hghca.wire.capture.CaptureException;
import org.hghca.wire.capture.PrivateFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code hghca capture}: the packets of a served software HCA, while it runs. */
@Command(
    name = "capture",
    description = {
      "Write what the port of a served software HCA sends and receives to a file, as pcapng, from"
          + " now on.",
      "Ctrl-C or SIGTERM ends it with exit code 0, and so does the end of the server. Any number"
          + " may run at a time."
    })
public final class CaptureCommand implements Callable<Integer>, OutlivesReader {
  private static final String SCHEME = "vfio-user";

  /** Where descriptors of this process are; a shell may have redirected one to a file. */
  private static final List<String> DESCRIPTORS =
      List.of("/dev/stdout", "/dev/stderr", "/dev/fd", "/proc/self/fd");

  @Spec private CommandSpec spec;

  @Option(
      names = {"-d", "--ib-dev"},
      completionCandidates = CompletedValues.Devices.class,
      paramLabel = "<locator>",
      required = true,
      description = "The HCA: vfio-user:<path>, served by 'hghca model serve'.")
  private String device;

  @Option(
      names = "--seconds",
      paramLabel = "<n>",
      description = "End after so many seconds (default: by Ctrl-C).")
  private Double seconds;

  @Parameters(
      paramLabel = "<file>",
      description =
          "The file, which its owner alone may read; /dev/stdout, another"
              + " device or a named pipe is written as it is.")
  private String file;

  @Override
  public Integer call() throws IOException {
    if (seconds != null && !(seconds > 0)) {
      throw new ParameterException(spec.commandLine(), "--seconds must be above 0");
    }
    Path socket = CaptureSocket.beside(served());
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      try {
        channel.connect(UnixDomainSocketAddress.of(socket));
      } catch (IOException e) {
        return failed(
            ExitCode.NOT_OPENED,
            "no server offers captures at '%s' (%s): is it served by 'hghca model serve'?"
                .formatted(socket, e.getMessage()));
      }
      try (OutputStream out = output()) {
        copy(channel, out);
      } catch (CaptureException e) {
        return failed(ExitCode.NO_OUTPUT, e.getMessage());
      } catch (IOException e) {
        return failed(ExitCode.NO_OUTPUT, "%s: %s".formatted(file, FileFailure.why(e)));
      }
    }
    return ExitCode.OK.code();
  }

  /**
   * A descriptor of this process, a pipe or a device is written as it is; the packets in a file are
   * for its owner alone.
   */
  private OutputStream output() throws IOException {
    Path path = Path.of(file);
    boolean isStream =
        DESCRIPTORS.stream().anyMatch(path::startsWith)
            || Files.exists(path) && !Files.isRegularFile(path);
    return isStream ? new FileOutputStream(file) : Channels.newOutputStream(PrivateFile.open(path));
  }

  /** The path at which the HCA is served. */
  private String served() {
    try {
      Locator locator = Locator.parse(device);
      if (locator.scheme().equals(SCHEME)) {
        return locator.name();
      }
    } catch (VfioException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    throw new ParameterException(
        spec.commandLine(),
        "'%s' is not vfio-user:<path>; a software HCA of a process of your own writes its packets"
                .formatted(device)
            + " with capture= in its locator");
  }

  /** Copies until the server ends the capture, which {@link #finish} requests. */
  private void copy(SocketChannel channel, OutputStream out) throws IOException {
    if (seconds != null) {
      Executor later =
          CompletableFuture.delayedExecutor((long) (seconds * 1e9), TimeUnit.NANOSECONDS);
      later.execute(() -> finish(channel));
    }
    try (Interruption _ = new Interruption(() -> finish(channel), ExitCode.OK)) {
      Channels.newInputStream(channel).transferTo(out);
      out.flush();
    }
  }

  private static void finish(SocketChannel channel) {
    try {
      channel.shutdownOutput();
    } catch (IOException e) {
      // The capture has ended.
    }
  }

  private int failed(ExitCode exit, String why) {
    spec.commandLine().getErr().println("hghca: " + why);
    return exit.code();
  }
}
