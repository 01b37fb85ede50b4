package org.hghca.tools.bringup.report;

import java.io.StringWriter;
import java.io.Writer;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;
import org.hghca.tools.bringup.BringupReport;
import org.hghca.tools.bringup.step.StepResult;
import org.hghca.tools.bringup.step.Tally;
import org.hghca.tools.bringup.step.Verdict;

/** A session as JUnit XML, which build servers read: a test case for each step. */
public final class JunitOutput {
  private final XMLStreamWriter xml;

  private JunitOutput(XMLStreamWriter xml) {
    this.xml = xml;
  }

  /** The whole report. */
  public static String of(Origin origin, BringupReport report) {
    StringWriter text = new StringWriter();
    write(origin, report, text);
    return text.toString();
  }

  private static void write(Origin origin, BringupReport report, Writer text) {
    try {
      XMLStreamWriter xml = XMLOutputFactory.newInstance().createXMLStreamWriter(text);
      new JunitOutput(xml).suite(origin, report);
      xml.close();
    } catch (XMLStreamException e) {
      throw new IllegalStateException("writing to memory failed", e);
    }
  }

  private void suite(Origin origin, BringupReport report) throws XMLStreamException {
    xml.writeStartDocument("UTF-8", "1.0");
    xml.writeStartElement("testsuite");
    xml.writeAttribute("name", "hghca bringup");
    xml.writeAttribute("hostname", report.device());
    xml.writeAttribute("tests", Integer.toString(report.results().size()));
    xml.writeAttribute("failures", Integer.toString(report.count(Verdict.FAIL)));
    xml.writeAttribute("errors", "0");
    xml.writeAttribute(
        "skipped", Integer.toString(report.count(Verdict.SKIP) + report.count(Verdict.NOT_JUDGED)));
    xml.writeAttribute("time", "%.3f".formatted(report.seconds()));
    xml.writeAttribute("timestamp", report.started().truncatedTo(ChronoUnit.SECONDS).toString());
    xml.writeStartElement("properties");
    property("device", report.device());
    property("outcome", report.outcome().name());
    for (Map.Entry<String, String> fact : FactLines.of(origin, report).entrySet()) {
      property(fact.getKey(), fact.getValue());
    }
    xml.writeEndElement();
    for (Tally tally : report.tallies()) {
      testCase(tally);
    }
    xml.writeEndElement();
    xml.writeEndDocument();
  }

  private void property(String name, String value) throws XMLStreamException {
    xml.writeEmptyElement("property");
    xml.writeAttribute("name", name);
    xml.writeAttribute("value", legal(value));
  }

  private void testCase(Tally tally) throws XMLStreamException {
    StepResult result = tally.result();
    xml.writeStartElement("testcase");
    xml.writeAttribute("classname", "org.hghca.bringup");
    xml.writeAttribute("name", result.step().id() + ": " + result.step().title());
    xml.writeAttribute("time", "%.3f".formatted(result.nanos() / 1e9));
    switch (result.verdict()) {
      case SKIP, NOT_JUDGED -> {
        xml.writeEmptyElement("skipped");
        xml.writeAttribute("message", legal(result.reason()));
      }
      case FAIL -> {
        xml.writeStartElement("failure");
        xml.writeAttribute("message", legal(result.reason()));
        xml.writeCharacters(
            legal(
                "source: %s\nlook at: %s\n"
                    .formatted(result.step().source(), result.step().next())));
        xml.writeEndElement();
      }
      case PASS, WARN -> {}
    }
    xml.writeStartElement("system-out");
    if (tally.failures() > 0 && tally.rounds().size() > 1) {
      xml.writeCharacters(
          "failed in %d of %d rounds\n".formatted(tally.failures(), tally.rounds().size()));
    }
    lines("expected: ", result.expected());
    lines("seen: ", result.seen());
    if (result.verdict() == Verdict.WARN) {
      xml.writeCharacters(legal("warning: " + result.reason() + "\n"));
    }
    xml.writeEndElement();
    xml.writeEndElement();
  }

  private void lines(String head, List<String> lines) throws XMLStreamException {
    for (String line : lines) {
      xml.writeCharacters(legal(head + line + "\n"));
    }
  }

  /** The text without what XML 1.0 has no way to write. */
  private static String legal(String text) {
    return text.codePoints()
        .map(c -> c >= ' ' && c != 0xfffe && c != 0xffff || c == '\n' || c == '\t' ? c : 0xfffd)
        .filter(c -> c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }
}
