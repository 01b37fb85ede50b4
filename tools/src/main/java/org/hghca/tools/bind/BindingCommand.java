package org.hghca.tools.bind;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.hghca.programs.OutlivesReader;
import org.hghca.tools.launch.Launcher;
import org.hghca.vfio.kernel.Binding;
import org.hghca.vfio.kernel.PciBus;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Changes the drivers of PCI functions, or shows how. */
@Command
abstract class BindingCommand implements Callable<Integer>, OutlivesReader {
  @Spec private CommandSpec spec;
  @ParentCommand private Launcher main;

  @Option(
      names = "--dry-run",
      description = "Print the commands of a root shell that would do it, and do nothing.")
  private boolean dryRun;

  @Override
  public Integer call() {
    Binding binding = new Binding(main.machine());
    PciBus bus = new PciBus(main.machine());
    PrintWriter out = spec.commandLine().getOut();
    if (dryRun) {
      commands(binding, bus).forEach(out::println);
    } else {
      change(binding, bus, out);
    }
    return 0;
  }

  /** The commands of a root shell. */
  abstract List<String> commands(Binding binding, PciBus bus);

  /** Does it, and prints what it did. */
  abstract void change(Binding binding, PciBus bus, PrintWriter out);
}
