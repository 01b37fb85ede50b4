package org.hghca.programs.perf.command;

import java.util.Optional;
import org.hghca.programs.OptionCheck;
import org.hghca.programs.perf.Multicast;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.Verb;
import org.hghca.verbs.Gid;
import picocli.CommandLine.Option;

/** The multicast groups of a program of perftest. */
final class PerfGroupOptions {
  @Option(
      names = {"-g", "--mcg"},
      description = "Datagrams go to a multicast group, in SEND tests; -x is 0 unless it is given.")
  private boolean multicast;

  @Option(
      names = {"-M", "--MGID"},
      paramLabel = "<gid>",
      description =
          "With -g the group of this side, if it receives: 16 numbers with colons between them"
              + " (default: ff01:0:2:c985::, or 239.2.201.133 for a GID of an IPv4 address; the"
              + " next one for the client of a latency test).")
  private String group;

  /** Whether datagrams go to a group, which those of SEND tests can. */
  boolean isMulticast(OptionCheck check, PerfTest test) {
    check.that(
        !multicast || test.verb() == Verb.SEND,
        "MultiCast feature only available on SEND verb: -g");
    return multicast;
  }

  Optional<Multicast> multicast(OptionCheck check, Parameters.Queues queues) {
    check.that(group == null || multicast, "-M needs -g");
    if (!multicast) {
      return Optional.empty();
    }
    check.that(
        !queues.bidirectional(), "Bidirectional mode not supported in multicast: -b with -g");
    check.that(queues.pairs() == 1, "Only 1 QP supported in multicast: -q with -g");
    Optional<Gid> own = Optional.ofNullable(group).flatMap(Multicast::parse);
    check.that(
        group == null || own.isPresent(),
        "-M must be 16 numbers up to 255 with colons between them, of a multicast group, not %s"
            .formatted(group));
    return Optional.of(new Multicast(own));
  }
}
