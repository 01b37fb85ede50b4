package org.hghca.tools;

import java.util.List;
import java.util.stream.Stream;
import org.hghca.programs.perf.command.PerfCommand;
import org.hghca.programs.pingpong.PingpongCommand;
import org.hghca.programs.pingpong.Variant;
import org.hghca.programs.rdmacm.MckeyCommand;
import org.hghca.programs.rdmacm.RdmaMessageCommand;
import org.hghca.programs.rdmacm.RpingCommand;
import org.hghca.programs.rdmacm.UcmatoseCommand;
import org.hghca.programs.rdmacm.UdaddyCommand;
import org.hghca.tools.bind.BindCommand;
import org.hghca.tools.bind.UnbindCommand;
import org.hghca.tools.bringup.command.BringupCommand;
import org.hghca.tools.capture.CaptureCommand;
import org.hghca.tools.capture.DecodeCommand;
import org.hghca.tools.card.command.CardCommand;
import org.hghca.tools.demo.DemoCommand;
import org.hghca.tools.info.InfoCommand;
import org.hghca.tools.info.ListCommand;
import org.hghca.tools.model.ModelCommand;
import org.hghca.tools.monitor.MetricsCommand;
import org.hghca.tools.monitor.TopCommand;
import org.hghca.tools.perf.peers.PerfPeersCommand;
import org.hghca.tools.replay.ReplayCommand;
import org.hghca.tools.sockets.SocketsCommand;
import picocli.CommandLine;

/**
 * The commands of {@code hghca}, each made when it is needed: reading the annotations of all takes
 * longer than most of them run.
 */
final class Subcommands {
  /** In the order of the help. */
  private static final List<String> NAMES =
      List.of(
          "demo",
          "list",
          "info",
          "top",
          "metrics",
          "bringup",
          "card",
          "replay",
          "model",
          "capture",
          "decode",
          "bind",
          "unbind",
          "sockets",
          "rping",
          "ucmatose",
          "udaddy",
          "mckey",
          "rdma-client",
          "rdma-server",
          "rc_pingpong",
          "uc_pingpong",
          "ud_pingpong",
          "srq_pingpong",
          "help",
          "perf");

  private Subcommands() {}

  /** The command that the arguments begin with; all where they begin with none, or with help. */
  static Stream<CommandLine> neededFor(String... args) {
    boolean one = args.length > 0 && NAMES.contains(args[0]) && !args[0].equals("help");
    return (one ? Stream.of(args[0]) : NAMES.stream()).map(Subcommands::make);
  }

  private static CommandLine make(String name) {
    return switch (name) {
      case "demo" -> new CommandLine(new DemoCommand());
      case "list" -> new CommandLine(new ListCommand());
      case "info" -> new CommandLine(new InfoCommand());
      case "top" -> new CommandLine(new TopCommand());
      case "metrics" -> new CommandLine(new MetricsCommand());
      case "bringup" -> new CommandLine(new BringupCommand());
      case "card" -> new CommandLine(new CardCommand());
      case "replay" -> new CommandLine(new ReplayCommand());
      case "model" -> new CommandLine(new ModelCommand());
      case "capture" -> new CommandLine(new CaptureCommand());
      case "decode" -> new CommandLine(new DecodeCommand());
      case "bind" -> new CommandLine(new BindCommand());
      case "unbind" -> new CommandLine(new UnbindCommand());
      case "sockets" -> new CommandLine(new SocketsCommand());
      case "rping" -> new CommandLine(new RpingCommand());
      case "ucmatose" -> new CommandLine(new UcmatoseCommand());
      case "udaddy" -> new CommandLine(new UdaddyCommand());
      case "mckey" -> new CommandLine(new MckeyCommand());
      case "rdma-client" -> RdmaMessageCommand.client();
      case "rdma-server" -> RdmaMessageCommand.server();
      case "rc_pingpong" -> PingpongCommand.commandLine(Variant.RC);
      case "uc_pingpong" -> PingpongCommand.commandLine(Variant.UC);
      case "ud_pingpong" -> PingpongCommand.commandLine(Variant.UD);
      case "srq_pingpong" -> PingpongCommand.commandLine(Variant.SRQ);
      case "help" -> new CommandLine(new HelpCommand());
      case "perf" -> PerfCommand.commandLine().addSubcommand(new PerfPeersCommand());
      default -> throw new IllegalArgumentException(name);
    };
  }
}
