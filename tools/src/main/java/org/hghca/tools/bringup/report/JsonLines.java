package org.hghca.tools.bringup.report;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.hghca.programs.Json;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.Progress;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepResult;

/**
 * A report as it is made, an object of JSON a line: a first one, one for each step as it ends and
 * for what it found out about the board, and a last one with the outcome. Without that the program
 * was killed.
 */
public final class JsonLines implements Progress {
  private final Consumer<String> lines;
  private int round;

  /**
   * Lines that have not begun.
   *
   * @param lines takes each whole line, without its end
   */
  public JsonLines(Consumer<String> lines) {
    this.lines = lines;
  }

  /**
   * The first line.
   *
   * @param device locator of the board
   * @param rounds how many there will be
   * @param steps all of a round
   */
  public void start(Origin origin, String device, int rounds, List<Step> steps) {
    Map<String, Object> json = line("start");
    json.putAll(origin.toJson());
    json.put("device", device);
    json.put("started", Instant.now().toString());
    json.put("rounds", rounds);
    json.put("steps", steps.stream().map(Step::id).toList());
    write(json);
  }

  @Override
  public void round(int number) {
    round = number;
  }

  @Override
  public void step(StepResult result) {
    Map<String, Object> json = line("step");
    json.put("round", round);
    json.putAll(JsonOutput.step(result));
    write(json);
    if (!result.facts().isEmpty()) {
      Map<String, Object> board = line("board");
      board.putAll(result.facts());
      write(board);
    }
  }

  /** The last line. */
  public void end(BringupReport report) {
    Map<String, Object> json = line("end");
    json.putAll(JsonOutput.outcome(report));
    write(json);
  }

  private static Map<String, Object> line(String type) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("type", type);
    return json;
  }

  private void write(Map<String, Object> json) {
    lines.accept(Json.line(json));
  }
}
