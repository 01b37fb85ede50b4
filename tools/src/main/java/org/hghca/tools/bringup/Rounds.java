package org.hghca.tools.bringup;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.hghca.tools.bringup.BringupReport.Outcome;
import org.hghca.tools.bringup.board.Bench;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.bringup.step.StepWatcher;

/**
 * Sessions one after another, each of which opens the board and gives it back; the last one may
 * keep it until it is closed. Used once.
 */
public final class Rounds implements AutoCloseable {
  /** After these nothing can be said about another round. */
  private static final Set<Outcome> LAST =
      EnumSet.of(Outcome.STOPPED, Outcome.INTERRUPTED, Outcome.NOT_OPENED);

  private final BringupOptions options;
  private final Bench bench;
  private final int count;
  private Optional<String> from = Optional.empty();
  private Bringup session;

  /**
   * Sessions that have not started.
   *
   * @param options of each
   * @param bench of each
   * @param count how many, at least 1
   */
  public Rounds(BringupOptions options, Bench bench, int count) {
    this.options = options;
    this.bench = bench;
    this.count = count;
    this.session = new Bringup(options, bench);
  }

  /**
   * Leaves out the steps before one, but those that it and later ones need.
   *
   * @param id of the step
   */
  public void from(String id) {
    from = Optional.of(id);
    session.from(id);
  }

  /** The session that is next, runs, or was the last one. */
  public Bringup session() {
    return session;
  }

  /**
   * Runs them, up to one that was interrupted, did not open the board, stopped the card, or keeps
   * it.
   *
   * @param watcher gets what long steps say while they run
   */
  public BringupReport run(Progress progress, StepWatcher watcher) {
    BringupReport report = run(1, progress, watcher);
    for (int round = 2; round <= count && !isLast(report); round++) {
      session = new Bringup(options, bench);
      from.ifPresent(session::from);
      report = report.with(run(round, progress, watcher));
    }
    return report;
  }

  private boolean isLast(BringupReport report) {
    return LAST.contains(report.outcome()) || !session.keptAt().isEmpty();
  }

  private BringupReport run(int round, Progress progress, StepWatcher watcher) {
    progress.round(round);
    return session.run(progress::step, watcher);
  }

  /** A report of these rounds, with what became of a board that was kept and given back. */
  public BringupReport released(BringupReport report) {
    return session.released(report);
  }

  /** Gives back a board that was kept; idempotent. */
  @Override
  public void close() {
    session.close();
  }
}
