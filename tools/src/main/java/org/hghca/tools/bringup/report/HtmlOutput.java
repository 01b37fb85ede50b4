package org.hghca.tools.bringup.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.hghca.programs.perf.page.Markup;
import org.hghca.programs.perf.page.PerfPage;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.cause.Conclusion;
import org.hghca.tools.bringup.step.Comparison;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Tally;
import org.hghca.tools.bringup.step.Verdict;
import org.hghca.tools.raw.CommandRecord;
import org.hghca.tools.raw.Hexdump;

/**
 * A session as one self-contained HTML page, which can be stored, mailed and printed. Its style has
 * no character that XML would escape, which a browser reads literally there.
 */
public final class HtmlOutput {
  private static final int TRACE_BYTES = 256;

  private final Markup page = Markup.document("html");

  private HtmlOutput() {}

  /** The whole report. */
  public static String of(Origin origin, BringupReport report) {
    HtmlOutput output = new HtmlOutput();
    output.page(origin, report);
    return output.page.toString();
  }

  private static String style() {
    try (InputStream css = HtmlOutput.class.getResourceAsStream("report.css")) {
      return new String(css.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void page(Origin origin, BringupReport report) {
    page.open("html", "lang", "en").open("head");
    page.empty("meta", "charset", "utf-8");
    page.empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1");
    page.element("title", "Bring-up of %s: %s".formatted(report.device(), report.outcome().text()));
    page.element("style", style() + PerfPage.plotStyle());
    page.close().open("body");
    head(report);
    conclusion(report);
    page.element("h2", "Steps").open("div", "class", "steps");
    report.tallies().forEach(this::step);
    page.close();
    environment(origin, report);
    page.element(
        "footer",
        "Each step opens. Bytes that differ are marked; bytes that may be anything are pale."
            + " Numbers with an h are hexadecimal.");
    page.close().close();
  }

  private void head(BringupReport report) {
    boolean good = report.outcome() == BringupReport.Outcome.PASSED;
    page.open("header").open("div", "class", good ? "head" : "head bad");
    page.element("h1", "Bring-up: " + report.outcome().text()).element("p", report.device());
    page.element(
        "p",
        "profile %s, %s, %.1f s%s"
            .formatted(
                report.profile().isEmpty() ? "not known" : report.profile(),
                report.started().truncatedTo(ChronoUnit.SECONDS),
                report.seconds(),
                report.rounds() > 1 ? ", %d rounds".formatted(report.rounds()) : ""));
    page.close().open("ul", "class", "counts");
    count("passed", report.count(Verdict.PASS));
    count("failed", report.count(Verdict.FAIL));
    count("warnings", report.count(Verdict.WARN));
    count("not judged", report.count(Verdict.NOT_JUDGED));
    count("skipped", report.count(Verdict.SKIP));
    page.close().close();
  }

  private void environment(Origin origin, BringupReport report) {
    page.element("h2", "Program, machine and board").open("dl");
    FactLines.of(origin, report)
        .forEach((name, value) -> page.element("dt", name).element("dd", value));
    page.close();
  }

  private void conclusion(BringupReport report) {
    if (report.conclusion().causes().isEmpty()) {
      return;
    }
    page.element("h2", "Conclusion");
    for (Conclusion.Cause cause : report.conclusion().causes()) {
      page.open("div", "class", "body");
      note("Likely", cause.what());
      note("Evidence", "%s: %s".formatted(cause.step(), cause.evidence()));
      note("Look at", cause.lookAt());
      page.close();
    }
  }

  private void count(String what, int count) {
    page.open("li").element("b", Integer.toString(count)).text(what).close();
  }

  private void step(Tally tally) {
    StepResult result = tally.result();
    boolean open = result.verdict() == Verdict.FAIL;
    details(open ? "step FAILED" : "step", open);
    page.open("summary", "class", "entry");
    page.element("span", result.verdict().label(), "class", "badge " + result.verdict().label());
    page.element("code", result.step().id());
    page.open("span", "class", "title").text(result.step().title());
    why(result.reason());
    why(
        tally.failures() > 0 && tally.rounds().size() > 1
            ? "failed in %d of %d rounds".formatted(tally.failures(), tally.rounds().size())
            : "");
    page.close();
    page.element(
        "span",
        result.verdict().isResult() ? "%.1f ms".formatted(result.millis()) : "",
        "class",
        "time");
    page.close().open("div", "class", "body");
    if (!result.expected().isEmpty() || !result.seen().isEmpty()) {
      page.open("div", "class", "sides");
      side("Expected", result.expected());
      side("Seen", result.seen());
      page.close();
    }
    note("Source", result.step().source());
    if (open) {
      note("Look at", result.step().next());
    }
    result.comparisons().forEach(this::comparison);
    result.measurements().ifPresent(report -> PerfPage.plots(page, report.page().measurements()));
    trace(result.commands());
    page.close().close();
  }

  private void details(String style, boolean open) {
    page.open(
        "details",
        open ? new String[] {"class", style, "open", ""} : new String[] {"class", style});
  }

  private void why(String reason) {
    if (!reason.isEmpty()) {
      page.element("span", reason, "class", "why");
    }
  }

  private void side(String title, List<String> lines) {
    page.open("div", "class", "side").element("h3", title).open("ul");
    lines.forEach(line -> page.element("li", line));
    page.close().close();
  }

  private void note(String title, String text) {
    page.open("p", "class", "note").element("b", title).text(text).close();
  }

  private void comparison(Comparison comparison) {
    int differences = comparison.differences();
    details("compare", differences > 0);
    page.element(
        "summary",
        "%s: %d bytes, %s"
            .formatted(
                comparison.what(),
                comparison.length(),
                differences == 0 ? "as expected" : differences + " differ"),
        "class",
        "more");
    page.open("div", "class", "pair");
    side(comparison, "expected", comparison.expected());
    side(comparison, "seen", comparison.seen());
    page.close().close();
  }

  private void side(Comparison comparison, String title, byte[] bytes) {
    page.open("div", "class", "scroll").open("table", "class", "bytes hex");
    page.open("tr").element("th", "").element("th", title, "colspan", "16").close();
    for (int at = 0; at < comparison.length(); at += Hexdump.COLUMNS) {
      page.open("tr").element("th", "%03x".formatted(at));
      bytes(comparison, bytes, at);
      page.close();
    }
    page.close().close();
  }

  private void bytes(Comparison comparison, byte[] bytes, int from) {
    for (int i = from; i < from + Hexdump.COLUMNS; i++) {
      String kind = i % 4 == 0 && i != from ? "group" : "";
      if (i < comparison.length() && comparison.ignored().get(i)) {
        kind += " any";
      } else if (i < comparison.length() && comparison.differsAt(i)) {
        kind += " differs";
      }
      String value = i < bytes.length ? "%02x".formatted(bytes[i]) : "";
      if (kind.isEmpty()) {
        page.element("td", value);
      } else {
        page.element("td", value, "class", kind.strip());
      }
    }
  }

  private void trace(List<CommandRecord> commands) {
    if (commands.isEmpty()) {
      return;
    }
    page.open("details", "class", "trace");
    page.element(
        "summary",
        "%d command%s".formatted(commands.size(), commands.size() == 1 ? "" : "s"),
        "class",
        "more");
    page.open("div", "class", "scroll").open("table", "class", "commands").open("tr");
    for (String column : List.of("Command", "op", "op_mod", "in_modifier", "in_param", "Status")) {
      page.element("th", column);
    }
    page.element("th", "us", "class", "number").element("th", "Mailboxes").close();
    commands.forEach(this::command);
    page.close().close().close();
  }

  private void command(CommandRecord command) {
    page.open("tr").element("td", command.name());
    cell("%03xh".formatted(command.opcode()));
    cell(Integer.toString(command.opModifier()));
    cell("%xh".formatted(command.inModifier()));
    cell("%xh".formatted(command.inParam()));
    page.element("td", command.status());
    page.element("td", "%.1f".formatted(command.micros()), "class", "number").open("td");
    mailbox("in", command.inbox());
    mailbox("out", command.outbox());
    page.close().close();
  }

  private void cell(String code) {
    page.open("td").element("code", code).close();
  }

  private void mailbox(String name, byte[] bytes) {
    if (bytes.length == 0) {
      return;
    }
    page.open("details").element("summary", "%s, %d bytes".formatted(name, bytes.length));
    List<String> lines = Hexdump.lines(bytes);
    int most = TRACE_BYTES / Hexdump.COLUMNS;
    String text = String.join("\n", lines.subList(0, Math.min(lines.size(), most)));
    page.element(
        "pre",
        lines.size() > most
            ? "%s\n... %d more bytes, all of them in the JSON"
                .formatted(text, bytes.length - TRACE_BYTES)
            : text);
    page.close();
  }
}
