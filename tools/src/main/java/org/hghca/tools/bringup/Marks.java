package org.hghca.tools.bringup;

import java.util.List;
import java.util.Optional;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.tools.bringup.board.Bench;
import org.hghca.tools.bringup.board.Driver;
import org.hghca.tools.bringup.board.Target;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.raw.RawHcr;
import org.hghca.tools.raw.TappedFunction;

/** {@code --mark}: a NOP before each step, for the trigger of a logic analyzer. */
final class Marks {
  private static final String FIRST = "hcr.nop";

  private final List<String> ids;
  private final Target board;
  private final Driver driver;
  private final Bench bench;

  /**
   * For a session.
   *
   * @param steps all of them in their order
   */
  Marks(List<Step> steps, Target board, Driver driver, Bench bench) {
    this.ids = steps.stream().map(Step::id).toList();
    this.board = board;
    this.driver = driver;
    this.bench = bench;
  }

  /**
   * Gives a NOP whose token is the number of a step, counted from 1, unless the command register is
   * not at hand: before {@code hcr.nop}, and while the board is closed.
   */
  void before(Step step) {
    int number = ids.indexOf(step.id()) + 1;
    if (!bench.mark() || number <= ids.indexOf(FIRST) || board.hcrBase().isEmpty()) {
      return;
    }
    Optional<TappedFunction> function = driver.tapped().or(board::tapped);
    if (function.isPresent()) {
      int base = board.hcrBase().getAsInt();
      new RawHcr(function.get(), base, board.options().limit())
          .give(Hcr.command(HcrCommand.NOP.code(), 0), 0, HcrCommand.NOP_IN_MODIFIER, 0, number);
    }
  }
}
