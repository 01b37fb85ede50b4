package org.hghca.programs.pingpong;

import java.util.concurrent.Callable;
import org.hghca.programs.UnsupportedOptions;
import org.hghca.programs.Version;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code hghca rc_pingpong}: the ping-pong of ibv_rc_pingpong, with itself and the original. */
@Command(
    name = "rc_pingpong",
    description = {
      "Send messages to and fro over a reliable connection, as ibv_rc_pingpong of rdma-core does.",
      "Either end may be the original."
    },
    exitCodeOnInvalidInput = 1,
    mixinStandardHelpOptions = true,
    versionProvider = Version.class)
@SuppressWarnings("UnusedVariable") // options that are refused by their description
public final class RcPingpongCommand implements Callable<Integer> {
  private static final String PINNED = "memory is registered and pinned as a whole.";

  @Spec private CommandSpec spec;
  @Mixin private PingpongArguments arguments;
  @Mixin private PingpongMessage message;

  @Option(
      names = {"-o", "--odp"},
      description = UnsupportedOptions.START + PINNED)
  private boolean onDemandPaging;

  @Option(
      names = {"-O", "--iodp"},
      description = UnsupportedOptions.START + PINNED)
  private boolean implicitOnDemandPaging;

  @Option(
      names = {"-P", "--prefetch"},
      description = UnsupportedOptions.START + PINNED)
  private boolean prefetch;

  @Option(
      names = {"-t", "--ts"},
      description = UnsupportedOptions.START + "completions of the card have no time stamps.")
  private boolean timestamps;

  @Option(
      names = {"-j", "--dm"},
      description = UnsupportedOptions.START + "the card has no memory that programs can register.")
  private boolean deviceMemory;

  @Option(
      names = {"-N", "--new_send"},
      description = UnsupportedOptions.START + "there is one API to post sends.")
  private boolean newSend;

  @Option(
      names = {"-U", "--allow-cc-unprotected"},
      description =
          UnsupportedOptions.START
              + "memory of a confidential guest is never shared with its host.")
  private boolean unprotected;

  @Override
  public Integer call() {
    return arguments.run(spec, Variant.RC, message.size(), message.mtu(spec));
  }
}
