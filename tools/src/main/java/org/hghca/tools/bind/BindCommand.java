package org.hghca.tools.bind;

import java.io.PrintWriter;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.kernel.Binding;
import org.hghca.vfio.kernel.FunctionSelector;
import org.hghca.vfio.kernel.PciBus;
import org.hghca.vfio.kernel.PciDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code hghca bind}: binds PCI functions to vfio-pci, which gives them to user space. */
@Command(
    name = "bind",
    description = "Take PCI functions from their drivers and give them to vfio-pci; needs root.")
public final class BindCommand extends BindingCommand {
  @Parameters(
      arity = "1..*",
      paramLabel = "<function>",
      description =
          "An address (0000:03:00.0, 03:00.0), an id (10ee:9038) or a class (0207); an id or a"
              + " class selects all its functions.")
  private List<String> functions;

  @Override
  List<String> commands(Binding binding, PciBus bus) {
    return binding.commandsToBind(devices(bus));
  }

  @Override
  void change(Binding binding, PciBus bus, PrintWriter out) {
    List<PciDevice> devices = devices(bus);
    binding.bind(devices);
    devices.forEach(device -> out.println(device.address() + " is bound to vfio-pci"));
  }

  private List<PciDevice> devices(PciBus bus) {
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
