package org.hghca.tools.bringup.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.hghca.programs.perf.page.PerfPage;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.cause.Conclusion;
import org.hghca.tools.bringup.step.Comparison;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Tally;
import org.hghca.tools.bringup.step.Verdict;
import org.hghca.tools.raw.CommandRecord;
import org.hghca.tools.raw.Hexdump;

/** A session as one self-contained HTML page, which can be stored, mailed and printed. */
public final class HtmlOutput {
  private static final int TRACE_BYTES = 256;

  private final StringBuilder html = new StringBuilder(1 << 16);

  private HtmlOutput() {}

  /** The whole report. */
  public static String of(Origin origin, BringupReport report) {
    HtmlOutput output = new HtmlOutput();
    output.page(origin, report);
    return output.html.toString();
  }

  private static String style() {
    try (InputStream css = HtmlOutput.class.getResourceAsStream("report.css")) {
      return new String(css.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The text with everything replaced that HTML has a meaning for. */
  static String escape(String text) {
    StringBuilder escaped = new StringBuilder(text.length() + 16);
    text.codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                default -> escaped.appendCodePoint(c < ' ' && c != '\n' && c != '\t' ? 0xfffd : c);
              }
            });
    return escaped.toString();
  }

  private void add(String markup) {
    html.append(markup);
  }

  private void text(String text) {
    html.append(escape(text));
  }

  private void element(String tag, String text) {
    add("<" + tag + ">");
    text(text);
    add("</" + tag + ">");
  }

  private void page(Origin origin, BringupReport report) {
    add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    add("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    element("title", "Bring-up of %s: %s".formatted(report.device(), report.outcome().text()));
    add("\n<style>\n" + style() + PerfPage.plotStyle() + "</style>\n</head>\n<body>\n");
    head(report);
    conclusion(report);
    element("h2", "Steps");
    add("\n<div class=\"steps\">\n");
    report.tallies().forEach(this::step);
    add("</div>\n");
    environment(origin, report);
    add("<footer>");
    text(
        "Each step opens. Bytes that differ are marked; bytes that may be anything are pale."
            + " Numbers with an h are hexadecimal.");
    add("</footer>\n</body>\n</html>\n");
  }

  private void head(BringupReport report) {
    boolean good = report.outcome() == BringupReport.Outcome.PASSED;
    add("<header>\n<div class=\"head%s\">".formatted(good ? "" : " bad"));
    element("h1", "Bring-up: " + report.outcome().text());
    element("p", report.device());
    element(
        "p",
        "profile %s, %s, %.1f s%s"
            .formatted(
                report.profile().isEmpty() ? "not known" : report.profile(),
                report.started().truncatedTo(ChronoUnit.SECONDS),
                report.seconds(),
                report.rounds() > 1 ? ", %d rounds".formatted(report.rounds()) : ""));
    add("</div>\n<ul class=\"counts\">\n");
    count("passed", report.count(Verdict.PASS));
    count("failed", report.count(Verdict.FAIL));
    count("warnings", report.count(Verdict.WARN));
    count("not judged", report.count(Verdict.NOT_JUDGED));
    count("skipped", report.count(Verdict.SKIP));
    add("</ul>\n</header>\n");
  }

  private void environment(Origin origin, BringupReport report) {
    element("h2", "Program, machine and board");
    add("\n<dl>\n");
    FactLines.of(origin, report)
        .forEach(
            (name, value) -> {
              element("dt", name);
              element("dd", value);
              add("\n");
            });
    add("</dl>\n");
  }

  private void conclusion(BringupReport report) {
    if (report.conclusion().causes().isEmpty()) {
      return;
    }
    element("h2", "Conclusion");
    for (Conclusion.Cause cause : report.conclusion().causes()) {
      add("<div class=\"body\">");
      note("Likely", cause.what());
      note("Evidence", "%s: %s".formatted(cause.step(), cause.evidence()));
      note("Look at", cause.lookAt());
      add("</div>\n");
    }
  }

  private void count(String what, int count) {
    add("<li><b>%d</b>%s</li>\n".formatted(count, what));
  }

  private void step(Tally tally) {
    StepResult result = tally.result();
    boolean open = result.verdict() == Verdict.FAIL;
    add(open ? "<details class=\"FAILED\" open>" : "<details>");
    add("<summary><span class=\"badge %1$s\">%1$s</span>".formatted(result.verdict().label()));
    element("code", result.step().id());
    add("<span class=\"title\">");
    text(result.step().title());
    why(result.reason());
    why(
        tally.failures() > 0 && tally.rounds().size() > 1
            ? "failed in %d of %d rounds".formatted(tally.failures(), tally.rounds().size())
            : "");
    add("</span><span class=\"time\">");
    text(result.verdict().isResult() ? "%.1f ms".formatted(result.millis()) : "");
    add("</span></summary>\n<div class=\"body\">\n");
    if (!result.expected().isEmpty() || !result.seen().isEmpty()) {
      add("<div class=\"sides\">");
      side("Expected", result.expected());
      side("Seen", result.seen());
      add("</div>\n");
    }
    note("Source", result.step().source());
    if (open) {
      note("Look at", result.step().next());
    }
    result.comparisons().forEach(this::comparison);
    result.measurements().ifPresent(report -> add(PerfPage.plots(report.page().measurements())));
    trace(result.commands());
    add("</div>\n</details>\n");
  }

  private void why(String reason) {
    if (!reason.isEmpty()) {
      add("<span class=\"why\">");
      text(reason);
      add("</span>");
    }
  }

  private void side(String title, List<String> lines) {
    add("<div>");
    element("h3", title);
    add("<ul>");
    lines.forEach(line -> element("li", line));
    add("</ul></div>");
  }

  private void note(String title, String text) {
    add("<p class=\"note\">");
    element("b", title);
    text(" " + text);
    add("</p>\n");
  }

  private void comparison(Comparison comparison) {
    int differences = comparison.differences();
    add("<details class=\"compare\"%s><summary>".formatted(differences > 0 ? " open" : ""));
    text(
        "%s: %d bytes, %s"
            .formatted(
                comparison.what(),
                comparison.length(),
                differences == 0 ? "as expected" : differences + " differ"));
    add("</summary><div class=\"pair\">\n");
    side(comparison, "expected", comparison.expected());
    side(comparison, "seen", comparison.seen());
    add("</div></details>\n");
  }

  private void side(Comparison comparison, String title, byte[] bytes) {
    add("<div class=\"scroll\"><table class=\"bytes hex\">\n");
    add("<tr><th></th><th colspan=\"16\">%s</th></tr>\n".formatted(title));
    for (int at = 0; at < comparison.length(); at += Hexdump.COLUMNS) {
      add("<tr><th>%03x</th>".formatted(at));
      bytes(comparison, bytes, at);
      add("</tr>\n");
    }
    add("</table></div>\n");
  }

  private void bytes(Comparison comparison, byte[] bytes, int from) {
    for (int i = from; i < from + Hexdump.COLUMNS; i++) {
      String kind = i % 4 == 0 && i != from ? "group" : "";
      if (i < comparison.length() && comparison.ignored().get(i)) {
        kind += " any";
      } else if (i < comparison.length() && comparison.differsAt(i)) {
        kind += " differs";
      }
      add(kind.isEmpty() ? "<td>" : "<td class=\"%s\">".formatted(kind.strip()));
      add(i < bytes.length ? "%02x".formatted(bytes[i]) : "");
      add("</td>");
    }
  }

  private void trace(List<CommandRecord> commands) {
    if (commands.isEmpty()) {
      return;
    }
    add("<details class=\"trace\"><summary>");
    text("%d command%s".formatted(commands.size(), commands.size() == 1 ? "" : "s"));
    add("</summary><div class=\"scroll\"><table class=\"commands\">\n<tr><th>Command</th>");
    add("<th>op</th><th>op_mod</th><th>in_modifier</th><th>in_param</th><th>Status</th>");
    add("<th class=\"number\">us</th><th>Mailboxes</th></tr>\n");
    commands.forEach(this::command);
    add("</table></div></details>\n");
  }

  private void command(CommandRecord command) {
    add("<tr>");
    element("td", command.name());
    cell("%03xh".formatted(command.opcode()));
    cell(Integer.toString(command.opModifier()));
    cell("%xh".formatted(command.inModifier()));
    cell("%xh".formatted(command.inParam()));
    element("td", command.status());
    add("<td class=\"number\">%.1f</td><td>".formatted(command.micros()));
    mailbox("in", command.inbox());
    mailbox("out", command.outbox());
    add("</td></tr>\n");
  }

  private void cell(String code) {
    add("<td><code>");
    text(code);
    add("</code></td>");
  }

  private void mailbox(String name, byte[] bytes) {
    if (bytes.length == 0) {
      return;
    }
    add("<details><summary>%s, %d bytes</summary><pre>".formatted(name, bytes.length));
    List<String> lines = Hexdump.lines(bytes);
    int most = TRACE_BYTES / Hexdump.COLUMNS;
    text(String.join("\n", lines.subList(0, Math.min(lines.size(), most))));
    if (lines.size() > most) {
      text("\n... %d more bytes, all of them in the JSON".formatted(bytes.length - TRACE_BYTES));
    }
    add("</pre></details>");
  }
}
