package org.hghca.tools.info;

import java.io.PrintWriter;
import java.util.List;
import org.hghca.programs.EmbeddedHca;
import org.hghca.tools.launch.Launcher;
import org.hghca.verbs.Context;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.hghca.vfio.kernel.PciDevice;
import org.hghca.vfio.kernel.SystemReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/**
 * {@code hghca list}: the devices, in the format of {@code ibv_devices}; on stderr, functions that
 * look like a card but cannot be opened in their current state.
 */
@Command(name = "list", description = "List the devices, as ibv_devices does.")
public final class ListCommand implements Runnable {
  @Spec private CommandSpec spec;
  @ParentCommand private Launcher main;

  @Override
  public void run() {
    List<RdmaDevice> devices = RdmaDevices.list();
    if (devices.isEmpty()) {
      String locator = EmbeddedHca.insteadOfCard(spec.commandLine().getErr());
      try (Context context = RdmaDevices.open(locator)) {
        devices = List.of(context.device());
      }
    }
    for (PciDevice device : SystemReport.unboundCards(main.machine())) {
      spec.commandLine()
          .getErr()
          .println(
              "hghca: %s may be a card: sudo hghca bind %s".formatted(device, device.address()));
    }
    PrintWriter out = spec.commandLine().getOut();
    out.print("    %-16s\t   node GUID\n".formatted("device"));
    out.print("    %-16s\t----------------\n".formatted("------"));
    for (RdmaDevice device : devices) {
      out.print("    %-16s\t%s\n".formatted(device.name(), nodeGuid(device)));
    }
  }

  private static String nodeGuid(RdmaDevice device) {
    return device.nodeGuid() == 0 ? "(info tells)" : "%016x".formatted(device.nodeGuid());
  }
}
