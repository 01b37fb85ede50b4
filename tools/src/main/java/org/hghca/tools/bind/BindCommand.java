package org.hghca.tools.bind;

import java.io.PrintWriter;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.hghca.programs.OutlivesReader;
import org.hghca.programs.Version;
import org.hghca.tools.launch.Launcher;
import org.hghca.vfio.VfioException;
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

/** {@code hghca bind}: binds PCI functions to vfio-pci, which gives them to user space. */
@Command(
    name = "bind",
    description = "Take PCI functions from their drivers and give them to vfio-pci; needs root.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class BindCommand implements Callable<Integer>, OutlivesReader {
  @Spec private CommandSpec spec;
  @ParentCommand private Launcher main;

  @Parameters(
      arity = "1..*",
      paramLabel = "<function>",
      description =
          "An address (0000:03:00.0, 03:00.0), an id (10ee:9038) or a class (0207); an id or a"
              + " class selects all its functions.")
  private List<String> functions;

  @Option(
      names = "--dry-run",
      description = "Print the commands of a root shell that would do it, and do nothing.")
  private boolean dryRun;

  @Override
  public Integer call() {
    Binding binding = new Binding(main.machine());
    List<PciDevice> devices = devices();
    PrintWriter out = spec.commandLine().getOut();
    if (dryRun) {
      binding.commandsToBind(devices).forEach(out::println);
      return 0;
    }
    binding.bind(devices);
    devices.forEach(device -> out.println(device.address() + " is bound to vfio-pci"));
    return 0;
  }

  private List<PciDevice> devices() {
    PciBus bus = new PciBus(main.machine());
    Set<PciDevice> devices = new LinkedHashSet<>();
    for (String function : functions) {
      FunctionSelector selector = FunctionSelector.parse(function);
      List<PciDevice> found = bus.devices(selector);
      if (found.isEmpty()) {
        throw new VfioException(
            VfioException.Reason.NOT_FOUND,
            "no PCI function %s: `lspci -Dnn` lists those that are there".formatted(selector));
      }
      devices.addAll(found);
    }
    return List.copyOf(devices);
  }
}
