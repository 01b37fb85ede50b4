package org.hghca.tools.info;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.programs.EmbeddedHca;
import org.hghca.programs.Json;
import org.hghca.provider.snapshot.Kind;
import org.hghca.provider.snapshot.Snapshot;
import org.hghca.provider.snapshot.SnapshotDirectory.Found;
import org.hghca.tools.launch.Launcher;
import org.hghca.tools.monitor.RunningPrograms;
import org.hghca.verbs.Context;
import org.hghca.verbs.Counter;
import org.hghca.verbs.RdmaDevice;
import org.hghca.verbs.RdmaDevices;
import org.hghca.vfio.kernel.PciDevice;
import org.hghca.vfio.kernel.SystemReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/**
 * {@code hghca list}: the devices, in the format of {@code ibv_devices}; on stderr, functions that
 * look like a card but cannot be opened in their current state. With {@code --users} the programs
 * that use devices.
 */
@Command(name = "list", description = "List the devices, as ibv_devices does.")
public final class ListCommand implements Runnable {
  private static final String USERS = "    %-24s %8s %6s %6s  %s\n";

  @Spec private CommandSpec spec;
  @ParentCommand private Launcher main;

  @Option(
      names = "--users",
      description =
          "List instead which running programs of this user have which device open, with its queue"
              + " pairs and connections.")
  private boolean users;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  @Override
  public void run() {
    if (users) {
      listUsers();
      return;
    }
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
    if (json) {
      out.println(
          Json.document(Map.of("devices", devices.stream().map(ListCommand::json).toList())));
      return;
    }
    out.print("    %-16s\t   node GUID\n".formatted("device"));
    out.print("    %-16s\t----------------\n".formatted("------"));
    for (RdmaDevice device : devices) {
      out.print("    %-16s\t%s\n".formatted(device.name(), nodeGuid(device)));
    }
  }

  private void listUsers() {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    Optional<RunningPrograms> programs = RunningPrograms.find(err);
    if (programs.isEmpty()) {
      return;
    }
    List<Snapshot> alive =
        programs.get().read(err).stream().filter(Found::isAlive).map(Found::snapshot).toList();
    if (json) {
      out.println(Json.document(Map.of("users", alive.stream().map(ListCommand::json).toList())));
      return;
    }
    if (alive.isEmpty()) {
      out.println(programs.get().nobody());
      return;
    }
    out.print(USERS.formatted("device", "pid", "QPs", "conns", "program"));
    for (Snapshot snapshot : alive) {
      out.print(
          USERS.formatted(
              snapshot.device(),
              snapshot.program().pid(),
              sum(snapshot, Counter.QUEUE_PAIRS),
              sum(snapshot, Counter.CONNECTIONS),
              snapshot.program().name()));
    }
  }

  private static Map<String, Object> json(RdmaDevice device) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", device.name());
    json.put("locator", device.locator());
    if (device.nodeGuid() != 0) { // else only opening it tells
      json.put("node_guid", "%016x".formatted(device.nodeGuid()));
    }
    return json;
  }

  private static Map<String, Object> json(Snapshot snapshot) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("device", snapshot.device());
    json.put("locator", snapshot.locator());
    json.put("pid", snapshot.program().pid());
    json.put("program", snapshot.program().name());
    json.put("queue_pairs", sum(snapshot, Counter.QUEUE_PAIRS));
    json.put("connections", sum(snapshot, Counter.CONNECTIONS));
    return json;
  }

  private static long sum(Snapshot snapshot, Counter counter) {
    return snapshot.rows(Kind.CONTEXT).mapToLong(row -> row.value(counter.text())).sum();
  }

  private static String nodeGuid(RdmaDevice device) {
    return device.nodeGuid() == 0 ? "(info tells)" : "%016x".formatted(device.nodeGuid());
  }
}
