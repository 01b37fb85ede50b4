package org.hghca.programs.pingpong;

import java.util.concurrent.Callable;
import org.hghca.programs.CNumber;
import org.hghca.programs.Version;
import org.hghca.verbs.Mtu;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code hghca ud_pingpong}: the ping-pong of ibv_ud_pingpong, with itself and the original. */
@Command(
    name = "ud_pingpong",
    description = {
      "Send datagrams to and fro, as ibv_ud_pingpong of rdma-core does. A lost one stops both"
          + " ends.",
      "Either end may be the original."
    },
    exitCodeOnInvalidInput = 1,
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class UdPingpongCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private PingpongArguments arguments;

  @Option(
      names = {"-s", "--size"},
      paramLabel = "<size>",
      converter = CNumber.class,
      description = "Bytes of a message, at most the port's MTU (default: ${DEFAULT-VALUE}).")
  private int size = 1024;

  @Override
  public Integer call() {
    return arguments.run(spec, Variant.UD, size, Mtu.MTU_1024);
  }
}
