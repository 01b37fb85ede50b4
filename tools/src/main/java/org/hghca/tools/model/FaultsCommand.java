package org.hghca.tools.model;

import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.hghca.model.CardFault;
import org.hghca.programs.Json;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code hghca model faults}: the faults that software cards can play. */
@Command(
    name = "faults",
    description =
        "List the faults that software cards play with fault=<name> in their locator, what a card"
            + " does then, and what a bring-up must conclude.")
final class FaultsCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  @Override
  public void run() {
    PrintWriter out = spec.commandLine().getOut();
    List<CardFault> faults = CardFault.all();
    if (json) {
      out.println(
          Json.document(Map.of("faults", faults.stream().map(FaultsCommand::json).toList())));
      return;
    }
    for (CardFault fault : faults) {
      out.println("%-24s%s".formatted(fault.name(), String.join(", ", fault.cards())));
      out.println("    " + fault.description());
      out.println("    conclusion: " + fault.conclusion());
    }
  }

  private static Map<String, Object> json(CardFault fault) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", fault.name());
    json.put("cards", fault.cards());
    json.put("description", fault.description());
    json.put("conclusion", fault.conclusion());
    json.put("legal", fault.legal());
    return json;
  }
}
