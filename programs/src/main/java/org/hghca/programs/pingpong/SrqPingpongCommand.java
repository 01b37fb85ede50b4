package org.hghca.programs.pingpong;

import java.util.concurrent.Callable;
import org.hghca.programs.CNumber;
import org.hghca.programs.UnsupportedOptions;
import org.hghca.programs.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code hghca srq_pingpong}: the ping-pong of ibv_srq_pingpong, with itself and the original. */
@Command(
    name = "srq_pingpong",
    description = {
      "Send messages to and fro over reliable connections that share a receive queue, as"
          + " ibv_srq_pingpong of rdma-core does.",
      "Either end may be the original."
    },
    exitCodeOnInvalidInput = 1,
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
@SuppressWarnings("UnusedVariable") // an option that is refused by its description
public final class SrqPingpongCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private PingpongArguments arguments;
  @Mixin private PingpongMessage message;

  @Option(
      names = {"-q", "--num-qp"},
      paramLabel = "<num>",
      converter = CNumber.class,
      description = "Queue pairs, at most 255 (default: ${DEFAULT-VALUE}).")
  private int queuePairs = 16;

  @Option(
      names = {"-o", "--odp"},
      description = UnsupportedOptions.START + "memory is registered and pinned as a whole.")
  private boolean onDemandPaging;

  @Override
  public Integer call() {
    return arguments.run(spec, Variant.SRQ, message.size(), message.mtu(spec), queuePairs);
  }
}
