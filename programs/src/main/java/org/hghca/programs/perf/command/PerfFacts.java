package org.hghca.programs.perf.command;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hghca.programs.GivenCommand;
import org.hghca.programs.Version;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.medium.Device;
import org.hghca.programs.perf.page.Environment;
import org.hghca.programs.perf.page.Measurement;
import org.hghca.programs.perf.page.PerfReport;
import org.hghca.programs.perf.result.Course;
import org.hghca.programs.perf.result.Figure;
import picocli.CommandLine.Model.CommandSpec;

/** What the page of a program of perftest says. */
final class PerfFacts {
  private PerfFacts() {}

  /**
   * The page of one run.
   *
   * @param spec of its command
   * @param server its host; empty when this is the server
   */
  static PerfReport report(
      Device device,
      Parameters parameters,
      CommandSpec spec,
      Optional<String> server,
      List<Figure> figures,
      List<Course> courses) {
    Map<String, String> facts = new LinkedHashMap<>();
    facts.put("command", GivenCommand.line(spec));
    facts.put("side", server.map(host -> "client of " + host).orElse("server"));
    facts.put("amount", amount(parameters.amount()));
    facts.put("queues", queues(parameters));
    facts.putAll(Environment.device(device.context(), parameters.route().port()));
    facts.put("hghca", Version.hghca());
    facts.putAll(Environment.time());
    facts.putAll(Environment.machine());
    String title =
        "%s, %s%s"
            .formatted(
                parameters.test().program(),
                parameters.type(),
                parameters.queues().bidirectional() ? ", both directions" : "");
    return new PerfReport(
        title,
        facts,
        List.of(
            new Measurement(title, parameters.report().gigabits(), figures, courses, List.of())));
  }

  private static String amount(Parameters.Amount amount) {
    String sizes =
        amount.all() ? "messages of all sizes" : "messages of %d bytes".formatted(amount.size());
    String extent =
        amount
            .span()
            .map(
                span ->
                    "%d s%s, %d s of it at each end not counted"
                        .formatted(
                            span.whole().toSeconds(),
                            span.endless() ? " a row" : "",
                            span.margin().toSeconds()))
            .orElse("%d of each queue pair".formatted(amount.iterations()));
    return sizes
        + ", "
        + extent
        + amount
            .rate()
            .map(r -> ", at most %.0f a second".formatted(r.messagesPerSecond()))
            .orElse("");
  }

  private static String queues(Parameters parameters) {
    Parameters.Queues queues = parameters.queues();
    return "%d %s, tx depth %d, rx depth %d, post list %d, CQ moderation %d, inline up to %d bytes%s"
        .formatted(
            queues.pairs(),
            parameters.type(),
            queues.sendDepth(),
            queues.receiveDepth(),
            queues.postList(),
            queues.moderation(),
            queues.inline(),
            queues.events() ? ", events" : ", polling");
  }
}
