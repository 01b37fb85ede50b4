package org.hghca.programs.perf.session;

import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.Verb;
import org.hghca.programs.perf.medium.Conversation;
import org.hghca.programs.perf.result.BandwidthReport;
import org.hghca.programs.perf.result.BandwidthResult;
import org.hghca.programs.perf.result.Columns;
import org.hghca.programs.perf.run.BandwidthRun;
import org.hghca.programs.perf.run.Resources;
import org.hghca.programs.perf.run.Watcher;

/** The sizes of a throughput test in turn, and what the sides exchange between them. */
final class ThroughputTest {
  private final Exchange exchange;
  private final Conversation conversation;
  private final Resources resources;
  private final Parameters parameters;
  private final Output output;
  private final Watcher watcher;
  private final boolean client;
  private final boolean gigabits;
  private boolean interrupted;

  ThroughputTest(Exchange exchange, Resources resources, Output output, Watcher watcher) {
    this.exchange = exchange;
    this.resources = resources;
    this.output = output;
    this.watcher = watcher;
    conversation = exchange.conversation();
    parameters = resources.parameters();
    client = conversation.isClient();
    gigabits = parameters.report().gigabits();
  }

  /**
   * Runs it.
   *
   * @return whether it came to its end; otherwise the thread was interrupted
   */
  boolean run() throws InterruptedException {
    output.print(Columns.LINE);
    output.print(Columns.bandwidth(gigabits));
    if (parameters.test().verb() == Verb.SEND) {
      measureSends();
    } else if (!client && !parameters.isBidirectional()) {
      exchange.meet();
      BandwidthReport peer = conversation.exchange(new BandwidthReport(0, 0, 0, 0, 0));
      compare(peer);
      row(peer);
    } else {
      measureRequests();
    }
    if (!interrupted) {
      exchange.meet();
    }
    output.print(Columns.LINE);
    return !interrupted;
  }

  private void measureSends() throws InterruptedException {
    boolean all = parameters.amount().all();
    boolean shared = parameters.isBidirectional() && parameters.amount().span().isEmpty();
    for (long size : exchange.sizes()) {
      BandwidthRun run = new BandwidthRun(resources, client, size);
      exchange.meet();
      BandwidthReport own = measure(run);
      if (interrupted) {
        row(own);
        return;
      }
      row(shared ? own.plus(conversation.exchange(own)) : own);
      if (all) {
        exchange.meet();
      }
    }
  }

  private void measureRequests() throws InterruptedException {
    boolean both = parameters.isBidirectional();
    BandwidthReport own = new BandwidthReport(0, 0, 0, 0, 0);
    for (long size : exchange.sizes()) {
      BandwidthRun run = new BandwidthRun(resources, client, size);
      if (both) {
        exchange.meet();
      }
      own = measure(run);
      if (interrupted) {
        row(own);
        return;
      }
      if (both && parameters.amount().all()) {
        exchange.meet();
      }
      row(both ? own.plus(conversation.exchange(own)) : own);
    }
    if (!both) {
      exchange.meet();
      BandwidthReport _ = conversation.exchange(own);
    }
  }

  private BandwidthReport measure(BandwidthRun run) {
    watcher.begins(run.progress());
    BandwidthResult result =
        run.run(
            each -> {
              watcher.ends();
              row(each.report(gigabits));
              watcher.begins(run.progress());
            });
    watcher.ends();
    run.course().ifPresent(output::keep);
    interrupted = Thread.interrupted();
    return result.report(gigabits);
  }

  private void row(BandwidthReport report) {
    output.record(report);
    output.show(
        parameters
            .report()
            .only()
            .map(
                what ->
                    "%f"
                        .formatted(
                            what == Parameters.Only.MESSAGE_RATE
                                ? report.messageRate()
                                : report.average()))
            .orElse(Columns.row(report, gigabits)));
  }

  /** A client of perftest tells its size only with its figures. */
  private void compare(BandwidthReport peer) {
    if (peer.size() != parameters.largest() && parameters.test().verb() != Verb.ATOMIC) {
      output.warn(
          "the client measured messages of %d bytes; this server was started for %d"
              .formatted(peer.size(), parameters.largest()));
    }
  }
}
