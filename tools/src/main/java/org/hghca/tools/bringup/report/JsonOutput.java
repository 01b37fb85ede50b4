package org.hghca.tools.bringup.report;

import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.cause.Conclusion;
import org.hghca.tools.bringup.step.Comparison;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Tally;
import org.hghca.tools.bringup.step.Verdict;
import org.hghca.tools.raw.CommandRecord;

/** A session as the values of JSON: plain numbers, bytes in hexadecimal. */
public final class JsonOutput {
  /** Of docs/bring-up.schema.json: it grows when a reader of older reports would misread one. */
  public static final int SCHEMA_VERSION = 1;

  private static final HexFormat HEX = HexFormat.of();

  private JsonOutput() {}

  /** The whole report. */
  public static Map<String, Object> of(Origin origin, BringupReport report) {
    Map<String, Object> json = new LinkedHashMap<>(origin.toJson());
    json.put("device", report.device());
    json.put("started", report.started().toString());
    json.put("board", report.facts());
    json.putAll(outcome(report));
    json.put("steps", report.tallies().stream().map(JsonOutput::tally).toList());
    return json;
  }

  /** How it ended. */
  static Map<String, Object> outcome(BringupReport report) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("outcome", report.outcome().name());
    json.put("exit_code", report.outcome().exitCode());
    json.put("profile", report.profile());
    json.put("seconds", report.seconds());
    json.put("rounds", report.rounds());
    for (Verdict verdict : Verdict.values()) {
      json.put(verdict.name().toLowerCase(Locale.ROOT), report.count(verdict));
    }
    json.put("conclusion", report.conclusion().causes().stream().map(JsonOutput::cause).toList());
    json.put("follows", report.conclusion().others());
    return json;
  }

  private static Map<String, Object> tally(Tally tally) {
    Map<String, Object> json = step(tally.result());
    json.put("failures", tally.failures());
    json.put("rounds", tally.rounds().stream().map(JsonOutput::round).toList());
    return json;
  }

  private static Map<String, Object> round(Tally.Round round) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("verdict", round.verdict().name());
    json.put("milliseconds", round.millis());
    if (!round.speeds().isEmpty()) {
      json.put("speeds", round.speeds());
    }
    return json;
  }

  private static Map<String, Object> cause(Conclusion.Cause cause) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("likely", cause.what());
    json.put("step", cause.step());
    json.put("evidence", cause.evidence());
    json.put("look_at", cause.lookAt());
    return json;
  }

  /** One result of a step. */
  static Map<String, Object> step(StepResult result) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", result.step().id());
    json.put("title", result.step().title());
    json.put("source", result.step().source());
    json.put("verdict", result.verdict().name());
    json.put("milliseconds", result.millis());
    if (!result.reason().isEmpty()) {
      json.put("reason", result.reason());
    }
    if (result.verdict() == Verdict.FAIL) {
      json.put("look_at", result.step().next());
    }
    json.put("expected", result.expected());
    json.put("seen", result.seen());
    if (!result.comparisons().isEmpty()) {
      json.put("comparisons", result.comparisons().stream().map(JsonOutput::comparison).toList());
    }
    if (!result.speeds().isEmpty()) {
      json.put("speeds", result.speeds());
    }
    result.measurements().ifPresent(report -> json.put("tests", report.toJson().get("tests")));
    if (!result.commands().isEmpty()) {
      json.put("commands", result.commands().stream().map(JsonOutput::command).toList());
    }
    return json;
  }

  private static Map<String, Object> comparison(Comparison comparison) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("what", comparison.what());
    json.put("expected", HEX.formatHex(comparison.expected()));
    json.put("seen", HEX.formatHex(comparison.seen()));
    json.put("ignored", comparison.ignored().stream().boxed().toList());
    json.put("first_difference", comparison.firstDifference());
    return json;
  }

  private static Map<String, Object> command(CommandRecord command) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("name", command.name());
    json.put("opcode", command.opcode());
    json.put("op_modifier", command.opModifier());
    json.put("in_modifier", Integer.toUnsignedLong(command.inModifier()));
    json.put("in_param", "%016x".formatted(command.inParam()));
    json.put("out_param", "%016x".formatted(command.outParam()));
    json.put("inbox", HEX.formatHex(command.inbox()));
    json.put("outbox", HEX.formatHex(command.outbox()));
    json.put("dword18", "%08x".formatted(command.answer()));
    json.put("status", command.status());
    json.put("microseconds", command.micros());
    return json;
  }
}
