package org.hghca.tools.demo;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;
import org.hghca.programs.ExitCode;
import org.hghca.programs.NotOpenedException;
import org.hghca.programs.OutlivesReader;
import org.hghca.programs.peer.PeerException;
import org.hghca.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** {@code hghca demo client}: the client of {@code hghca demo server}. */
@Command(
    name = "client",
    description = {
      "Run the demo with `hghca demo server` in another process or on another machine. The server"
          + " serves one client at a time; others wait, for at most a minute.",
      "The devices of the two sides must reach each other. A check that fails on one side fails on"
          + " both."
    })
final class DemoClientCommand implements Callable<Integer>, OutlivesReader {
  @Spec private CommandSpec spec;
  @ParentCommand private DemoCommand demo;
  @Mixin private DemoPeerOptions peer;
  @Mixin private DemoOptions options;

  @Parameters(
      paramLabel = "<host>",
      description = "Name or IPv4 or IPv6 address of the server, such as localhost or ::1.")
  private String host;

  @Override
  public Integer call() {
    demo.checkOptionsFollow(spec);
    options.check(spec);
    int port = peer.port(spec);
    String device = peer.device(spec);
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    DemoClient client = new DemoClient(device, options.steps(out), err);
    try {
      InetSocketAddress server = new InetSocketAddress(host, port);
      options.print(out, client.run(server, options.nanos(), options.size()));
      return ExitCode.OK.code();
    } catch (CheckFailedException | PeerException | NotOpenedException | VerbsException e) {
      String server = (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
      options.printFailure(out, server, device, client.checks(), e);
      demo.main().complain(e);
      return demo.main().exitCode(e).code();
    }
  }
}
