package org.hghca.tools.bringup.compare;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.jr.ob.JSON;
import com.fasterxml.jackson.jr.ob.ValueIterator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.hghca.tools.bringup.report.JsonOutput;

/** Reads a report of {@code --json} or {@code --json-lines}. */
public final class ReportReader {
  private ReportReader() {}

  /**
   * Reads one.
   *
   * @param file its name
   * @param text its content
   * @throws UnreadableReportException when it is cut, newer than this program, or no report
   */
  public static RecordedReport read(String file, String text) {
    if (text.isBlank()) {
      throw cut(file);
    }
    Decoder decoder = new Decoder(file);
    Map<?, ?> first = first(file, text);
    checkVersion(file, first);
    return decoder.decode(
        "start".equals(first.get("type")) ? WrittenLines.whole(lines(file, text), decoder) : first);
  }

  /** The whole report, or its first line. */
  private static Map<?, ?> first(String file, String text) {
    try (ValueIterator<Object> values = JSON.std.anySequenceFrom(text)) {
      if (values.hasNextValue() && values.nextValue() instanceof Map<?, ?> map) {
        return map;
      }
    } catch (JacksonException e) {
      String body = text.strip();
      if (body.startsWith("{") && (e instanceof JsonEOFException || !body.endsWith("}"))) {
        throw cut(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e); // it reads from memory
    }
    throw none(file);
  }

  /** All lines but a last one that has no end: the program was killed while it wrote it. */
  private static List<Map<?, ?>> lines(String file, String text) {
    List<Map<?, ?>> lines = new ArrayList<>();
    for (String line : text.substring(0, text.lastIndexOf('\n') + 1).split("\n")) {
      try {
        lines.add(JSON.std.mapFrom(line));
      } catch (IOException e) {
        throw new UnreadableReportException(
            "%s is damaged in line %d: make the report again".formatted(file, lines.size() + 1));
      }
    }
    return lines;
  }

  private static void checkVersion(String file, Map<?, ?> report) {
    if (!(report.get("schema_version") instanceof Integer version)
        || !report.containsKey("command_line")) {
      throw none(file);
    }
    if (version > JsonOutput.SCHEMA_VERSION) {
      String writer =
          report.get("hghca") instanceof Map<?, ?> hghca
              ? String.valueOf(hghca.get("version"))
              : "a later one";
      throw new UnreadableReportException(
          "%s has schema version %d, and this hghca reads up to %d: compare with hghca %s"
              .formatted(file, version, JsonOutput.SCHEMA_VERSION, writer));
    }
  }

  private static UnreadableReportException cut(String file) {
    return new UnreadableReportException(
        "%s is cut, or empty: make it again; a report of --json-lines is whole up to its last line"
            .formatted(file));
  }

  private static UnreadableReportException none(String file) {
    return new UnreadableReportException(
        "%s is no report of hghca bringup: --json or --json-lines writes one".formatted(file));
  }
}
