package org.hghca.tools.bind;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.hghca.programs.OutlivesReader;
import org.hghca.programs.Version;
import org.hghca.tools.launch.Launcher;
import org.hghca.vfio.kernel.Binding;
import org.hghca.vfio.kernel.FunctionSelector;
import org.hghca.vfio.kernel.PciBus;
import org.hghca.vfio.kernel.PciDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code hghca unbind}: returns PCI functions from vfio-pci to their previous drivers. */
@Command(
    name = "unbind",
    description = "Take PCI functions from vfio-pci and give them back; needs root.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class UnbindCommand implements Callable<Integer>, OutlivesReader {
  @Spec private CommandSpec spec;
  @ParentCommand private Launcher main;

  @Parameters(
      arity = "1..*",
      paramLabel = "<function>",
      description =
          "An address (0000:03:00.0, 03:00.0), or an id (10ee:9038) or a class (0207) that only one"
              + " function has.")
  private List<String> functions;

  @Option(
      names = "--dry-run",
      description = "Print the commands of a root shell that would do it, and do nothing.")
  private boolean dryRun;

  @Override
  public Integer call() {
    Binding binding = new Binding(main.machine());
    PciBus bus = new PciBus(main.machine());
    List<PciDevice> devices =
        functions.stream().map(FunctionSelector::parse).map(bus::select).distinct().toList();
    PrintWriter out = spec.commandLine().getOut();
    for (PciDevice device : devices) {
      if (dryRun) {
        binding.commandsToUnbind(device).forEach(out::println);
      } else {
        out.println(
            device.address()
                + " has "
                + binding.unbind(device).map(name -> "the driver " + name).orElse("no driver"));
      }
    }
    return 0;
  }
}
