package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import org.hghca.programs.DeviceOption;
import org.hghca.programs.ExitCode;
import org.hghca.programs.Interruption;
import org.hghca.programs.NotOpenedException;
import org.hghca.verbs.VerbsException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;

/** The device of a program of librdmacm, and how its command ends. */
final class RdmacmDevice {
  @Mixin private DeviceOption device;

  /** What a command runs on its device. */
  interface Program {
    /** Returns 0 for success. */
    int run(Endpoint endpoint) throws InterruptedException;
  }

  /**
   * Runs a program on the device. Ctrl-C and SIGTERM make it end its connections.
   *
   * @return the exit code of the command
   * @throws NotOpenedException when the device cannot be opened
   */
  int run(CommandSpec spec, Program program) {
    Thread running = Thread.currentThread();
    try (Endpoint endpoint = open(spec.commandLine().getErr());
        Interruption _ = new Interruption(running::interrupt, ExitCode.INTERRUPTED)) {
      return (program.run(endpoint) == 0 ? ExitCode.OK : ExitCode.FAILED).code();
    } catch (InterruptedException e) {
      return ExitCode.INTERRUPTED.code();
    }
  }

  private Endpoint open(PrintWriter err) {
    try {
      return Endpoint.open(device.name(err));
    } catch (VerbsException e) {
      throw new NotOpenedException(e);
    }
  }
}
