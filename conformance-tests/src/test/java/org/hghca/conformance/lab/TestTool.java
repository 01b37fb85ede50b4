package org.hghca.conformance.lab;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectPackage;

import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;
import org.junit.platform.reporting.legacy.xml.LegacyXmlReportGeneratingListener;

/**
 * Runs tests, as the tool {@code test}: {@code test REPORTS SELECTION...}, with a folder for
 * reports. A selection is the name of a class, {@code class#method(types)}, or {@code package/tag}
 * for the tests of a package that have the tag. JUnit's own command line takes seconds to start
 * where the processor is emulated. With the system property {@code hghca.lab.results}, a guest's
 * folder, and {@code hghca.lab.scenario} each test is a check of that scenario.
 */
public final class TestTool implements ToolProvider {
  /** Used by the service loader. */
  public TestTool() {}

  @Override
  public String name() {
    return "test";
  }

  /** Ends with 1 when a test failed or none was found. */
  @Override
  public int run(PrintWriter out, PrintWriter err, String... args) {
    LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
    List.of(args).subList(1, args.length).forEach(selection -> select(request, selection));
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    List<TestExecutionListener> listeners = new ArrayList<>();
    listeners.add(listener);
    listeners.add(new Progress(out));
    listeners.add(new LegacyXmlReportGeneratingListener(Path.of(args[0]), err));
    String results = System.getProperty("hghca.lab.results");
    if (results != null) {
      listeners.add(new ResultLines(Path.of(results), System.getProperty("hghca.lab.scenario")));
    }
    try (LauncherSession session = LauncherFactory.openSession()) {
      session
          .getLauncher()
          .execute(request.build(), listeners.toArray(TestExecutionListener[]::new));
    }
    TestExecutionSummary summary = listener.getSummary();
    summary.printFailuresTo(out);
    summary.printTo(out);
    return summary.getTestsFoundCount() > 0 && summary.getTotalFailureCount() == 0 ? 0 : 1;
  }

  private static void select(LauncherDiscoveryRequestBuilder request, String selection) {
    int tag = selection.indexOf('/');
    if (tag >= 0) {
      request
          .selectors(selectPackage(selection.substring(0, tag)))
          .filters(TagFilter.includeTags(selection.substring(tag + 1)));
    } else if (selection.contains("#")) {
      request.selectors(selectMethod(selection));
    } else {
      request.selectors(selectClass(selection));
    }
  }

  /** Prints each test before it runs: the last one printed is the one that hangs. */
  private record Progress(PrintWriter out) implements TestExecutionListener {
    @Override
    public void executionStarted(TestIdentifier test) {
      if (test.isTest()) {
        out.println(test.getLegacyReportingName());
      }
    }
  }
}
