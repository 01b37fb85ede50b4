package org.hghca.programs.perf.command;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.Optional;
import org.hghca.programs.ReportFile;
import org.hghca.programs.perf.page.PerfPage;
import org.hghca.programs.perf.page.PerfReport;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The page that a measurement writes. */
final class PerfPageOption {
  @Spec(Spec.Target.MIXEE)
  private CommandSpec spec;

  @Option(
      names = "--html",
      paramLabel = "<file>",
      description = "Write one self-contained HTML page with plots; - is stdout, without the text.")
  private String html;

  private Optional<ReportFile<PerfReport>> file() {
    return Optional.ofNullable(html).map(name -> new ReportFile<>(name, PerfPage::of));
  }

  boolean isWanted() {
    return html != null;
  }

  /** Where the text goes. */
  PrintWriter text() {
    boolean page = file().map(ReportFile::isStdout).orElse(false);
    return page ? new PrintWriter(Writer.nullWriter()) : spec.commandLine().getOut();
  }

  /** Whether the page can be written; says otherwise why not. */
  boolean canBeWritten() {
    return tries(() -> file().ifPresent(ReportFile::check));
  }

  /** Writes the page, if it is wanted; returns false, and says why, when that failed. */
  boolean write(PerfReport report) {
    return tries(() -> file().ifPresent(file -> file.write(report, spec.commandLine().getOut())));
  }

  private boolean tries(Runnable output) {
    return ReportFile.tries(spec.commandLine().getErr(), output);
  }
}
