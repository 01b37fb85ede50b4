package org.hghca.tools.perf.peers;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.command.PerfTestCommand;
import org.hghca.programs.perf.medium.Device;
import org.hghca.programs.perf.medium.Medium;
import org.hghca.programs.perf.result.BandwidthReport;
import org.hghca.programs.perf.result.DurationLatency;
import org.hghca.programs.perf.result.Figure;
import org.hghca.programs.perf.result.LatencyResult;
import org.hghca.programs.perf.session.PerfSession;

/** SENDs over a reliable connection, as {@code ib_send_lat} and {@code ib_send_bw} measure them. */
final class HghcaEnd implements End {
  private static final double MEGA = 1e6;

  private final Device device;
  private final boolean events;
  private final Medium medium;
  private final boolean client;

  /**
   * Of an opened device, which is closed with this object.
   *
   * @param events whether it sleeps until the next completion
   */
  HghcaEnd(Device device, boolean events, Medium medium, boolean client) {
    this.device = device;
    this.events = events;
    this.medium = medium;
    this.client = client;
  }

  @Override
  public Outcome run(Task task) throws InterruptedException {
    PerfTest test = PerfTest.IB_SEND_LAT;
    List<String> options = new ArrayList<>(List.of("-s", Integer.toString(task.size())));
    if (task.kind() == Task.Kind.STREAM) {
      test = PerfTest.IB_SEND_BW;
      options.add("-N"); // the search for the peak takes as long as the square of the count
    }
    if (events) {
      options.add("-e");
    }
    Parameters parameters =
        PerfTestCommand.parameters(test, options.toArray(String[]::new)).of(task.count());
    PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
    List<Figure> figures = new ArrayList<>();
    ProcessorTime processor = new ProcessorTime();
    PerfSession session =
        new PerfSession(
            parameters, _ -> parameters, device, nowhere, nowhere, figures::add, processor);
    if (!session.run(medium, client)) {
      throw new InterruptedException();
    }
    return outcome(figures, processor.nanos());
  }

  private static Outcome outcome(List<Figure> figures, long processor) {
    if (figures.isEmpty()) {
      return new Outcome(0, 0, 0, processor); // a server of a stream
    }
    return switch (figures.getLast()) {
      case LatencyResult result -> Outcome.of(result, 2, processor);
      case BandwidthReport report -> new Outcome(0, 0, report.messageRate() * MEGA, processor);
      case DurationLatency _ -> throw new IllegalStateException("not measured by time");
    };
  }

  @Override
  public void close() {
    device.close();
  }
}
