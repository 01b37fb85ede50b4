package org.hghca.tools.bringup;

import java.util.EnumSet;
import java.util.Set;
import org.hghca.tools.bringup.BringupReport.Outcome;
import org.hghca.tools.bringup.board.BringupOptions;

/**
 * Sessions one after another, each of which opens the board and gives it back.
 *
 * @param options of each
 * @param count how many, at least 1
 */
public record Rounds(BringupOptions options, int count) {
  /** After these nothing can be said about another round. */
  private static final Set<Outcome> LAST =
      EnumSet.of(Outcome.STOPPED, Outcome.INTERRUPTED, Outcome.NOT_OPENED);

  /** Runs them, up to one that was interrupted, did not open the board, or stopped the card. */
  public BringupReport run(Progress progress) {
    BringupReport report = run(1, progress);
    for (int round = 2; round <= count && !LAST.contains(report.outcome()); round++) {
      report = report.with(run(round, progress));
    }
    return report;
  }

  private BringupReport run(int round, Progress progress) {
    progress.round(round);
    return new Bringup(options).run(progress::step);
  }
}
