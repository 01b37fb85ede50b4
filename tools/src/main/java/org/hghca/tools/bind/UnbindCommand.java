package org.hghca.tools.bind;

import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Stream;
import org.hghca.vfio.kernel.Binding;
import org.hghca.vfio.kernel.FunctionSelector;
import org.hghca.vfio.kernel.PciBus;
import org.hghca.vfio.kernel.PciDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code hghca unbind}: returns PCI functions from vfio-pci to their previous drivers. */
@Command(
    name = "unbind",
    description = "Take PCI functions from vfio-pci and give them back; needs root.")
public final class UnbindCommand extends BindingCommand {
  @Parameters(
      arity = "1..*",
      paramLabel = "<function>",
      description =
          "An address (0000:03:00.0, 03:00.0), or an id (10ee:9038) or a class (0207) that only one"
              + " function has.")
  private List<String> functions;

  @Override
  List<String> commands(Binding binding, PciBus bus) {
    return devices(bus).flatMap(device -> binding.commandsToUnbind(device).stream()).toList();
  }

  @Override
  void change(Binding binding, PciBus bus, PrintWriter out) {
    for (PciDevice device : devices(bus).toList()) {
      out.println(
          device.address()
              + " has "
              + binding.unbind(device).map(name -> "the driver " + name).orElse("no driver"));
    }
  }

  private Stream<PciDevice> devices(PciBus bus) {
    return functions.stream().map(FunctionSelector::parse).map(bus::select).distinct();
  }
}
