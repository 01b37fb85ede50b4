package org.hghca.tools.launch;

import java.util.List;
import org.hghca.programs.ExitCode;
import org.hghca.vfio.kernel.Machine;

/** The command line that a command belongs to. */
public interface Launcher {
  /** The machine whose functions are bound and whose configuration is checked. */
  Machine machine();

  /** The external backends. */
  List<Plugin> plugins();

  /** Prints the failure on stderr: in one line, unless more detail is requested. */
  void complain(Throwable exception);

  /** The exit code of an unhandled failure. */
  ExitCode exitCode(Exception exception);
}
