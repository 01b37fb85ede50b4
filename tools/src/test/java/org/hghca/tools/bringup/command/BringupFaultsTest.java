package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.hghca.model.CardFault;
import org.hghca.tools.bringup.Bringup;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Verdict;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The table of faults in {@code docs/bring-up.md}, which says where each one is found, holds: on S
 * and virtio, and on the RTL where its cell differs from that of S; all cells with {@code
 * -Dhghca.faults=all}.
 */
@Tag("long")
class BringupFaultsTest {
  private static final List<String> CARDS = List.of("s", "r1", "r2", "virtio");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final String NOT_FOUND = "not found";
  private static final String NONE = "–";
  private static final boolean ALL = "all".equals(System.getProperty("hghca.faults"));

  /**
   * A cell of the table.
   *
   * @param result a step, or the steps of which one fails first, the last one last; INCOMPLETE,
   *     PASSED or {@link #NOT_FOUND}
   */
  record Cell(String fault, String card, String result, List<String> conclusions) {
    String device() {
      return card.equals("virtio")
          ? "virtio:%s?fault=%s".formatted(fault, fault)
          : "model:%s-%s?fault=%s&profile=%s".formatted(fault, card, fault, card);
    }
  }

  private static List<Cell> table() throws IOException {
    List<Cell> cells = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of("../docs/bring-up.md"))) {
      List<String> row = Arrays.stream(line.split("\\|", -1)).map(String::strip).toList();
      if (row.size() == CARDS.size() + 4 && CODE.matcher(row.get(1)).matches()) {
        List<String> conclusions =
            CODE.matcher(row.get(CARDS.size() + 2)).results().map(m -> m.group(1)).toList();
        for (int i = 0; i < CARDS.size(); i++) {
          String result = row.get(i + 2).replace("`", "");
          if (!result.equals(NONE)) {
            cells.add(new Cell(row.get(1).replace("`", ""), CARDS.get(i), result, conclusions));
          }
        }
      }
    }
    return cells;
  }

  static Stream<Arguments> cells() throws IOException {
    List<Cell> table = table();
    return table.stream()
        .filter(cell -> !cell.result().equals(NOT_FOUND))
        .filter(cell -> ALL || !cell.card().startsWith("r") || differs(cell, table))
        .map(cell -> Arguments.of(cell.fault() + " " + cell.card(), cell));
  }

  private static boolean differs(Cell cell, List<Cell> table) {
    return table.stream()
        .filter(other -> other.fault().equals(cell.fault()) && other.card().equals("s"))
        .noneMatch(other -> other.result().equals(cell.result()));
  }

  @Test
  void tableHasAllFaultsOfAllCards() throws IOException {
    Map<String, List<String>> known = new TreeMap<>();
    CardFault.all()
        .forEach(fault -> known.put(fault.name(), fault.cards().stream().sorted().toList()));
    Map<String, List<String>> documented = new TreeMap<>();
    table()
        .forEach(
            cell ->
                documented
                    .computeIfAbsent(cell.fault(), any -> new ArrayList<>())
                    .add(cell.card()));
    documented.replaceAll((fault, cards) -> cards.stream().sorted().toList());

    assertThat(documented).isEqualTo(known);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cells")
  void faultIsFoundWhereTheTableSays(String name, Cell cell) {
    SessionOptions options = SessionOptions.of(cell.device()).measure(Duration.ofMillis(20));
    switch (cell.result()) {
      case "PASSED" ->
          assertThat(run(options.skip(Set.of("speed")).done()).outcome())
              .isEqualTo(BringupReport.Outcome.PASSED);
      case "INCOMPLETE" ->
          assertThat(run(only(options, Set.of("pci.reset", "driver.loop"))).outcome())
              .isEqualTo(BringupReport.Outcome.INCOMPLETE);
      default -> {
        List<String> steps = List.of(cell.result().split(", "));
        BringupReport report = run(only(options, Set.of(steps.getLast())));

        assertThat(report.outcome())
            .isIn(BringupReport.Outcome.FAILED, BringupReport.Outcome.STOPPED);
        assertThat(report.results())
            .filteredOn(result -> result.verdict() == Verdict.FAIL)
            .extracting(result -> result.step().id())
            .first()
            .as("%s", failures(report))
            .isIn(steps);
        String likely = report.conclusion().causes().getFirst().what();
        assertThat(cell.conclusions())
            .as("%s; %s", likely, failures(report))
            .anyMatch(likely::contains);
      }
    }
  }

  private static List<String> failures(BringupReport report) {
    return report.results().stream()
        .filter(result -> result.verdict() == Verdict.FAIL)
        .map(result -> result.step().id() + ": " + result.reason())
        .toList();
  }

  /** Whatever fails, the board is given back. */
  private static BringupReport run(BringupOptions options) {
    List<StepResult> results = new ArrayList<>();
    BringupReport report = new Bringup(options).run(results::add);
    assertThat(report.notReleased()).as("%s", failures(report)).isEmpty();
    return report;
  }

  private static BringupOptions only(SessionOptions of, Set<String> steps) {
    return of.limit(Duration.ofMillis(1500)).only(steps).done();
  }
}
