package org.hghca.programs;

import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.function.Supplier;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.hghca.vfio.DriverParameter;
import org.hghca.vfio.Locator;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.trace.TraceFile;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The file with a time line of all devices of a command. */
public final class TraceOption {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--trace",
      paramLabel = "<file>",
      description =
          "Write a time line of commands, doorbells, completions, events, interrupts and DMA"
              + " mappings, as trace= of a locator does: for ui.perfetto.dev, or JSON lines if the"
              + " name ends with .jsonl. With ,full behind the name also registers and memory, for"
              + " hghca replay.")
  private String file;

  public boolean isWanted() {
    return file != null;
  }

  /** The locator of a device that is recorded if that is wanted. */
  public String traced(String nameOrLocator) {
    if (file == null) {
      return nameOrLocator;
    }
    String locator =
        RdmaDevices.list().stream()
            .filter(device -> device.name().equals(nameOrLocator))
            .map(RdmaDevice::locator)
            .findFirst()
            .orElse(nameOrLocator);
    try {
      return Locator.parse(locator).with(DriverParameter.TRACE.key(), file).toString();
    } catch (VfioException e) {
      return nameOrLocator; // whoever opens it says what is wrong
    }
  }

  /**
   * Runs a command, and writes the file whatever its end.
   *
   * @param command returns its exit code
   * @return the same; that of a missing output if the command went well and the file did not
   */
  public int around(Supplier<Integer> command) {
    if (file == null) {
      return command.get();
    }
    if (file.contains("&")) {
      throw new ParameterException(
          spec.commandLine(), "--trace=%s: a & is not possible in this name".formatted(file));
    }
    TraceFile trace;
    try {
      trace = TraceFile.open(file);
    } catch (UncheckedIOException e) {
      return complain(e, ExitCode.NO_OUTPUT.code());
    }
    boolean written = false;
    int code;
    try {
      code = command.get();
    } finally {
      written = write(trace);
    }
    return code == ExitCode.OK.code() && !written ? ExitCode.NO_OUTPUT.code() : code;
  }

  private boolean write(TraceFile trace) {
    try {
      String said = trace.write();
      err()
          .println(
              "hghca: trace %s: %s"
                  .formatted(file, said.isEmpty() ? "what came before the signal" : said));
      return true;
    } catch (UncheckedIOException e) {
      int _ = complain(e, 0);
      return false;
    }
  }

  private int complain(RuntimeException e, int code) {
    err().println("hghca: " + e.getMessage());
    return code;
  }

  private PrintWriter err() {
    return spec.commandLine().getErr();
  }
}
