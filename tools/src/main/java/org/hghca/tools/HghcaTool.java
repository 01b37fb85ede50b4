package org.hghca.tools;

import java.io.PrintWriter;
import java.util.spi.ToolProvider;
import org.hghca.vfio.kernel.Machine;

/**
 * The command line {@code hghca} for programs, which run it in their own JVM: {@code
 * ToolProvider.findFirst("hghca")}. Options, output and exit codes are those of the command.
 */
public final class HghcaTool implements ToolProvider {
  /** Used by the service loader. */
  public HghcaTool() {}

  @Override
  public String name() {
    return "hghca";
  }

  @Override
  public int run(PrintWriter out, PrintWriter err, String... args) {
    return Main.run(Machine.local(), out, err, args);
  }
}
