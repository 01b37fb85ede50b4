package org.hghca.programs.rdmacm;

import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.hghca.programs.Ipv6Text;
import org.hghca.programs.OptionCheck;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code hghca mckey}: the multicast datagrams of mckey, with itself and with the original. */
@Command(
    name = "mckey",
    description = {
      "Join a multicast group and send to it or receive from it, as mckey of rdma-core does.",
      "The other end may be the original. Start receivers first: a sender waits for 3 seconds."
    })
public final class MckeyCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;
  @Mixin private RdmacmDevice device;
  @Mixin private RdmacmMessages messages;

  @Option(
      names = "-m",
      paramLabel = "<multicast_address>",
      description = "Address of the group, such as 239.1.2.3.")
  private String group;

  @Option(
      names = "-M",
      paramLabel = "<unmapped_multicast_address>",
      description = "Not supported: a group by its GID.")
  private String unmapped;

  @Option(names = "-s", description = "Send to the group (default: receive from it).")
  private boolean sender;

  @Option(names = "-b", paramLabel = "<bind_address>", description = "Address of this end.")
  private String bind;

  @Option(
      names = "-p",
      paramLabel = "<port_space>",
      description = "0x111; 0x2 is not supported (default: ${DEFAULT-VALUE}).")
  private String portSpace = "0x111";

  @Option(names = "-o", description = "Not supported: to join as a send-only full member.")
  private boolean sendOnly;

  @Option(names = "-l", description = "Not supported: to join without multicast loopback.")
  private boolean withoutLoopback;

  @Override
  public Integer call() {
    OptionCheck check = new OptionCheck(spec);
    check.that(unmapped == null, "-M is not supported: name the group by its IP address with -m");
    check.that(!sendOnly, "-o is not supported: a sender is a full member");
    check.that(
        !withoutLoopback, "-l is not supported: a queue pair receives what its own HCA sends");
    check.that(group != null, "-m is missing, the address of the group");
    RdmacmAddressing.requireValue(spec, "-p", portSpace, "0x111", "273");
    Mckey.Options options =
        new Mckey.Options(
            RdmacmAddress.of(spec, group, 0),
            RdmacmAddress.local(spec, bind),
            sender,
            messages.connections(spec),
            messages.messages(spec));
    check.that(
        options.group().getAddress().isMulticastAddress(),
        "-m %s is no multicast address".formatted(group));
    PrintWriter out = spec.commandLine().getOut();
    return device.run(spec, endpoint -> new Mckey(options, endpoint, Ipv6Text::of, out).run());
  }
}
