package org.hghca.programs.perf.command;

import org.hghca.programs.perf.PerfTest;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code hghca perf}: throughput and latency as perftest measures them. */
@Command(
    name = "perf",
    description = {
      "Measure throughput and latency, as the programs of perftest do.",
      "Either end may be the original, from version 5.70 on."
    },
    synopsisSubcommandLabel = "COMMAND")
public final class PerfCommand implements Runnable {
  @Spec private CommandSpec spec;

  /** The command with one command for each program, and those over several of them. */
  public static CommandLine commandLine() {
    CommandLine command = new CommandLine(new PerfCommand());
    for (PerfTest test : PerfTest.values()) {
      command.addSubcommand(test.program(), PerfTestCommand.commandLine(test));
    }
    command.addSubcommand(new PerfSuiteCommand());
    command.addSubcommand(new PerfCompareCommand());
    return command;
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Missing command");
  }
}
