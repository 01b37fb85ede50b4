package org.hghca.tools.info;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.hghca.driver.PinnedMemory;
import org.hghca.programs.CompletedValues;
import org.hghca.programs.EmbeddedHca;
import org.hghca.programs.ExitCode;
import org.hghca.programs.Json;
import org.hghca.provider.snapshot.SnapshotDirectory.Found;
import org.hghca.tools.launch.Launcher;
import org.hghca.tools.launch.Plugin;
import org.hghca.tools.monitor.RunningPrograms;
import org.hghca.verbs.Context;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.hghca.verbs.VerbsException;
import org.hghca.vfio.Locator;
import org.hghca.vfio.kernel.SystemReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * {@code hghca info}: the options, output and exit codes of {@code ibv_devinfo}, then the
 * information that the card, or the virtio device, reports.
 */
@Command(
    name = "info",
    description =
        "Print the attributes of devices, as ibv_devinfo does, and what the card reports. Of a"
            + " virtio network device without RoCE: what it offers, and why it has no verbs.")
public final class InfoCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @ParentCommand private Launcher main;

  @Option(
      names = {"-d", "--ib-dev"},
      completionCandidates = CompletedValues.Devices.class,
      paramLabel = "<dev>",
      description = "Name or locator of a device (default: all devices).")
  private String device;

  @Option(
      names = {"-i", "--ib-port"},
      paramLabel = "<port>",
      converter = PortNumber.class,
      description = "Port of the device (default: all ports).")
  private int port;

  @Option(
      names = {"-l", "--list"},
      description = "Print only the names of the devices.")
  private boolean list;

  @Option(
      names = {"-v", "--verbose"},
      description = "Print all attributes.")
  private boolean verbose;

  @Option(
      names = "--counters",
      description =
          "Print the counters of this process since it opened the device; an embedded software HCA"
              + " prints its own, too. Then those of running programs of this user, as they show"
              + " them twice a second.")
  private boolean counters;

  @Option(
      names = "--system",
      description =
          "Print whether this machine is ready for cards, and what would fix it (with -d: for the"
              + " card of that locator); exit code 1 when it is not.")
  private boolean system;

  @Option(names = "--json", description = "Print all attributes, or the system, as JSON.")
  private boolean json;

  /** A port number from 1, decimal, or hexadecimal after 0x. */
  static final class PortNumber implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      try {
        int number = Integer.decode(text);
        if (number > 0) {
          return number;
        }
      } catch (NumberFormatException e) {
        // Told below.
      }
      throw new TypeConversionException("'" + text + "' is not a port: ports are numbered from 1");
    }
  }

  @Override
  public Integer call() {
    if (system) {
      return system();
    }
    List<String> names = new ArrayList<>();
    try {
      if (device != null && !list) {
        names.add(device);
      } else {
        RdmaDevices.list().stream().map(RdmaDevice::name).forEach(names::add);
      }
    } catch (VerbsException e) {
      main.complain(e);
      return ExitCode.NOT_OPENED.code();
    }
    if (names.isEmpty()) {
      names.add(EmbeddedHca.insteadOfCard(spec.commandLine().getErr()));
    }
    if (list) {
      list(names);
      return 0;
    }
    List<DeviceReport> reports = new ArrayList<>();
    List<VirtioReport> withoutVerbs = new ArrayList<>();
    int exitCode = 0;
    for (String name : names) {
      exitCode = Math.max(exitCode, report(name, reports, withoutVerbs).code());
    }
    print(reports, withoutVerbs, counters ? running() : List.of());
    return exitCode;
  }

  private int system() {
    Locator locator = device == null ? null : Locator.parse(device);
    if (locator != null && !locator.scheme().equals("pci")) {
      throw new ParameterException(
          spec.commandLine(), "--system takes locators of the scheme pci, not " + locator);
    }
    SystemReport report =
        locator == null
            ? SystemReport.of(main.machine(), PinnedMemory.AT_BRING_UP)
            : SystemReport.of(main.machine(), PinnedMemory.AT_BRING_UP, locator);
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.document(SystemPrinter.json(report)));
    } else {
      SystemPrinter.print(out, report);
    }
    return (report.problems() == 0 ? ExitCode.OK : ExitCode.FAILED).code();
  }

  private void list(List<String> names) {
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      printJson(names.stream().map(name -> Map.of("hca_id", name)).toList(), List.of());
      return;
    }
    out.print("%d HCA%s found:\n".formatted(names.size(), names.size() == 1 ? "" : "s"));
    names.forEach(name -> out.print("\t" + name + "\n"));
    out.print("\n");
  }

  /**
   * Queries a device, and prints failures on stderr.
   *
   * @return its part of the exit code
   */
  private ExitCode report(
      String name, List<DeviceReport> reports, List<VirtioReport> withoutVerbs) {
    Context context;
    try {
      context = RdmaDevices.open(name);
    } catch (VerbsException e) {
      main.complain(e);
      VirtioReport.withoutVerbs(name, e).ifPresent(withoutVerbs::add);
      return ExitCode.NOT_OPENED;
    }
    ExitCode exitCode = query(context, reports);
    try {
      context.close();
    } catch (VerbsException e) {
      main.complain(e);
      return ExitCode.FAILED;
    }
    return exitCode;
  }

  private ExitCode query(Context context, List<DeviceReport> reports) {
    try {
      DeviceAttributes attributes = context.queryDevice();
      if (port > attributes.physicalPorts()) {
        spec.commandLine()
            .getErr()
            .println(
                "hghca: %s has no port %d: it has %d"
                    .formatted(context.device().name(), port, attributes.physicalPorts()));
        return ExitCode.FAILED;
      }
      reports.add(DeviceReport.of(context, attributes, port, counters));
      return ExitCode.OK;
    } catch (VerbsException e) {
      main.complain(e);
      return ExitCode.FAILED;
    }
  }

  /** The programs that run, except this one. */
  private List<Found> running() {
    PrintWriter err = spec.commandLine().getErr();
    long own = ProcessHandle.current().pid();
    return RunningPrograms.find(err).stream()
        .flatMap(programs -> programs.read(err).stream())
        .filter(found -> found.isAlive() && found.snapshot().program().pid() != own)
        .toList();
  }

  private void print(
      List<DeviceReport> reports, List<VirtioReport> withoutVerbs, List<Found> running) {
    if (json) {
      List<Object> devices = new ArrayList<>();
      reports.forEach(report -> devices.add(InfoJson.of(report)));
      withoutVerbs.forEach(report -> devices.add(InfoJson.of(report)));
      printJson(devices, running);
      return;
    }
    PrintWriter out = spec.commandLine().getOut();
    main.plugins().forEach(plugin -> out.print("plugin:\t%s\n".formatted(plugin.describe())));
    for (DeviceReport report : reports) {
      new DevinfoPrinter(out, verbose).print(report);
      report.card().ifPresent(card -> CardPrinter.print(out, report.device().locator(), card));
      report.virtio().ifPresent(virtio -> VirtioPrinter.print(out, virtio));
      FeaturePrinter.print(out, report.attributes());
      if (!report.counters().isEmpty()) {
        out.print("\tsince this process opened the device, without other processes:\n");
      }
      CounterReport.print(out, "\t", report.counters());
    }
    for (VirtioReport report : withoutVerbs) {
      out.print("function:\t%s\n".formatted(report.locator()));
      VirtioPrinter.print(out, report);
    }
    for (Found found : running) {
      CounterReport.print(out, "", found.snapshot());
    }
  }

  private void printJson(List<?> devices, List<Found> running) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("devices", devices);
    if (!running.isEmpty()) {
      json.put("programs", running.stream().map(RunningPrograms::json).toList());
    }
    if (!main.plugins().isEmpty()) {
      json.put("plugins", main.plugins().stream().map(InfoCommand::json).toList());
    }
    spec.commandLine().getOut().println(Json.document(json));
  }

  private static Map<String, Object> json(Plugin plugin) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("jar", plugin.jar().toString());
    json.put("schemes", plugin.schemes());
    return json;
  }
}
