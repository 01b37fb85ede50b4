package org.hghca.programs.perf.session;

import java.util.Optional;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.Verb;
import org.hghca.programs.perf.result.Columns;
import org.hghca.programs.perf.result.DurationLatency;
import org.hghca.programs.perf.result.LatencyResult;
import org.hghca.programs.perf.run.LatencyRun;
import org.hghca.programs.perf.run.Resources;
import org.hghca.programs.perf.run.Watcher;

/** The sizes of a latency test in turn, and what the sides exchange between them. */
final class LatencyTest {
  private final Exchange exchange;
  private final Resources resources;
  private final Parameters parameters;
  private final Output output;
  private final Watcher watcher;
  private final boolean client;

  LatencyTest(Exchange exchange, Resources resources, Output output, Watcher watcher) {
    this.exchange = exchange;
    this.resources = resources;
    this.output = output;
    this.watcher = watcher;
    parameters = resources.parameters();
    client = exchange.conversation().isClient();
  }

  /**
   * Runs it.
   *
   * @return whether it came to its end; otherwise the thread was interrupted
   */
  boolean run() throws InterruptedException {
    Verb verb = parameters.test().verb();
    output.print(Columns.LINE);
    if (verb.isRequest() && !client) {
      exchange.meet();
      output.print(Columns.LINE);
      return true;
    }
    Optional<Parameters.Span> span = parameters.amount().span();
    output.print(span.isPresent() ? Columns.LATENCY_BY_TIME : Columns.LATENCY);
    boolean interrupted = false;
    for (long size : exchange.sizes()) {
      LatencyRun run = new LatencyRun(resources, client, size);
      if (verb == Verb.SEND) {
        exchange.meet();
      }
      watcher.begins(run.progress());
      if (span.isPresent()) {
        DurationLatency result = run.runFor(span.get());
        watcher.ends();
        run.course().ifPresent(output::keep);
        row(result);
      } else {
        Optional<LatencyResult> result = run.run();
        watcher.ends();
        result.ifPresent(this::row);
      }
      interrupted = Thread.interrupted();
      if (interrupted) {
        break;
      }
    }
    if (verb == Verb.WRITE) {
      leave();
    } else if (!interrupted) {
      exchange.meet();
    }
    output.print(Columns.LINE);
    return !interrupted;
  }

  /** Where perftest has no exchange at the end; the connection manager ends it by itself. */
  private void leave() throws InterruptedException {
    if (!parameters.route().meeting().connects()) {
      exchange.conversation().leave();
    }
  }

  private void row(LatencyResult result) {
    output.record(result);
    if (!output.isFull()) {
      output.show("%f".formatted(result.average()));
      return;
    }
    Parameters.Report report = parameters.report();
    if (report.unsorted()) {
      list(result.samples());
    }
    if (report.sorted()) {
      list(result.sorted());
    }
    if (report.unsorted() || report.sorted()) {
      output.print(Columns.LINE);
      output.print(Columns.LATENCY);
    }
    output.print(Columns.row(result));
  }

  private void list(double[] samples) {
    output.print("#, usec");
    for (int i = 0; i < samples.length; i++) {
      output.print("%d, %s".formatted(i + 1, Columns.general(samples[i])));
    }
  }

  private void row(DurationLatency result) {
    output.record(result);
    output.show(output.isFull() ? Columns.row(result) : "%f".formatted(result.average()));
  }
}
