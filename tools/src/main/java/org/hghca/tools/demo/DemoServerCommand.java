package org.hghca.tools.demo;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import org.hghca.programs.ExitCode;
import org.hghca.programs.Interruption;
import org.hghca.programs.OutlivesReader;
import org.hghca.tools.launch.Launcher;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code hghca demo server}: the server of the demo, for clients in other processes. */
@Command(
    name = "server",
    description = {
      "Run the server of the demo for `hghca demo client` in another process or on another"
          + " machine, one client after another. Each side prints its own steps.",
      "A TCP connection carries GIDs, QP numbers, PSNs, addresses and keys, and no messages. It is"
          + " neither encrypted nor authenticated, so the server listens on the loopback address"
          + " unless --bind names another. SIGINT or SIGTERM ends it with exit code 0."
    })
final class DemoServerCommand implements Callable<Integer>, OutlivesReader {
  @Spec private CommandSpec spec;
  @ParentCommand private DemoCommand demo;
  @Mixin private DemoPeerOptions peer;

  @Option(
      names = "--bind",
      paramLabel = "<address>",
      description =
          "The address to listen on, such as 0.0.0.0 for all of this machine (default: the"
              + " loopback address).")
  private String bind = InetAddress.getLoopbackAddress().getHostAddress();

  @Option(
      names = "--once",
      description = "Serve one client, and end with the exit code of its demo.")
  private boolean once;

  @Override
  public Integer call() {
    demo.checkOptionsFollow(spec);
    Launcher main = demo.main();
    PrintWriter out = spec.commandLine().getOut();
    InetSocketAddress address = new InetSocketAddress(bind, peer.port(spec));
    try (DemoServer server = new DemoServer(peer.device(spec), address, out, main::complain);
        Interruption interruption = new Interruption(server::close, ExitCode.OK)) {
      boolean held;
      do {
        held = server.serve();
      } while (!once && !interruption.hasBegun());
      return (held || interruption.hasBegun() ? ExitCode.OK : ExitCode.FAILED).code();
    }
  }
}
