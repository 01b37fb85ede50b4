package org.hghca.programs.pingpong;

import java.util.concurrent.Callable;
import org.hghca.programs.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code hghca uc_pingpong}: the ping-pong of ibv_uc_pingpong, with itself and the original. */
@Command(
    name = "uc_pingpong",
    description = {
      "Send messages to and fro over an unreliable connection, as ibv_uc_pingpong of rdma-core"
          + " does. A lost message stops both ends.",
      "Either end may be the original."
    },
    exitCodeOnInvalidInput = 1,
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
public final class UcPingpongCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private PingpongArguments arguments;
  @Mixin private PingpongMessage message;

  @Override
  public Integer call() {
    return arguments.run(spec, Variant.UC, message.size(), message.mtu(spec));
  }
}
