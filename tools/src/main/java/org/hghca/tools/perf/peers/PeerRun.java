package org.hghca.tools.perf.peers;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.hghca.provider.Undo;

/**
 * Measures the same sizes over all peers, in rounds, so that what else the machine does hits all of
 * them. Not thread-safe.
 */
public final class PeerRun {
  /** Of each row. */
  public static final int ROUNDS = 5;

  private final List<Entrant> entrants;
  private final List<Integer> sizes;
  private final Duration whole;
  private final Consumer<String> progress;
  private boolean interrupted;

  /**
   * Nothing is measured yet.
   *
   * @param sizes bytes of messages
   * @param whole about how long it takes
   * @param progress gets what is measured next, as a line
   */
  public PeerRun(
      List<Entrant> entrants, List<Integer> sizes, Duration whole, Consumer<String> progress) {
    this.entrants = entrants;
    this.sizes = sizes;
    this.whole = whole;
    this.progress = progress;
  }

  /** Whether it was interrupted; its rows are then of the rounds so far. */
  public boolean isInterrupted() {
    return interrupted;
  }

  /** Measures, and returns the rows: of each size those of all peers. */
  public List<PeerRow> run() {
    List<PeerRow> rows = new ArrayList<>();
    List<Cell> cells = new ArrayList<>();
    try (Undo opened = new Undo()) {
      for (Entrant entrant : entrants) {
        try {
          Peer peer = entrant.opener().open();
          opened.add(peer::close);
          sizes.forEach(size -> cells.add(new Cell(entrant, peer, size)));
        } catch (IOException | RuntimeException e) {
          for (int size : sizes) {
            rows.add(new PeerRow.Unmeasured(entrant.name(), size, why(e), true));
          }
        }
      }
      measure(cells);
    }
    cells.forEach(cell -> rows.add(cell.row()));
    return sorted(rows);
  }

  private void measure(List<Cell> cells) {
    Duration each = whole.dividedBy(Math.max(1, 2L * (ROUNDS + 1) * cells.size()));
    try {
      for (Cell cell : cells) {
        progress.accept("warming up: " + cell);
        cell.calibrate(each);
      }
      for (int round = 1; round <= ROUNDS; round++) {
        for (Cell cell : cells) {
          progress.accept("round %d of %d: %s".formatted(round, ROUNDS, cell));
          cell.measure();
        }
      }
    } catch (InterruptedException _) {
      interrupted = true;
    }
  }

  private List<PeerRow> sorted(List<PeerRow> rows) {
    List<PeerRow> sorted = new ArrayList<>();
    for (int size : sizes) {
      for (Entrant entrant : entrants) {
        rows.stream()
            .filter(row -> row.size() == size && row.peer().equals(entrant.name()))
            .forEach(sorted::add);
      }
    }
    return sorted;
  }

  static String why(Exception e) {
    return e.getMessage() == null ? e.toString() : e.getMessage();
  }
}
