package org.hghca.provider.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hghca.provider.snapshot.Snapshot.Program;
import org.hghca.provider.snapshot.Snapshot.Row;
import org.junit.jupiter.api.Test;

/** The text is that of the grammar of OpenMetrics 1.0. */
class OpenMetricsTest {
  private static final Pattern DESCRIPTOR =
      Pattern.compile("# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)");
  private static final Pattern LABEL =
      Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\\n]|\\\\[\\\\n\"])*)\"");
  private static final Pattern SAMPLE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)\\{(%s(?:,%s)*)} (\\d+)".formatted(LABEL, LABEL));

  /** A family: its type, its unit, and the values of its samples by their labels. */
  private record Family(String type, String unit, Map<String, Long> samples) {}

  /** Reads a text, and fails where it breaks a rule. */
  private static Map<String, Family> parse(String text) {
    assertThat(text).endsWith("# EOF\n").doesNotContain("\r", "\n\n");
    List<String> lines = text.lines().toList();
    Map<String, Family> families = new HashMap<>();
    Set<String> seen = new HashSet<>();
    String name = "";
    String type = "";
    for (String line : lines.subList(0, lines.size() - 1)) {
      Matcher descriptor = DESCRIPTOR.matcher(line);
      if (descriptor.matches()) {
        if (descriptor.group(1).equals("TYPE")) {
          name = descriptor.group(2);
          type = descriptor.group(3);
          assertThat(seen.add(name)).as("family %s once", name).isTrue();
          assertThat(type).isIn("counter", "gauge");
          assertThat(name).doesNotEndWith("_total");
          families.put(name, new Family(type, "", new HashMap<>()));
        } else {
          assertThat(descriptor.group(2)).isEqualTo(name);
          Family family = families.get(name);
          assertThat(family.samples).as("before its samples").isEmpty();
          if (descriptor.group(1).equals("UNIT")) {
            assertThat(name).endsWith("_" + descriptor.group(3));
            families.put(name, new Family(type, descriptor.group(3), family.samples));
          } else {
            assertThat(descriptor.group(3)).isNotBlank();
          }
        }
        continue;
      }
      Matcher sample = SAMPLE.matcher(line);
      assertThat(sample.matches()).as(line).isTrue();
      assertThat(sample.group(1)).isEqualTo(type.equals("counter") ? name + "_total" : name);
      String labels = sample.group(2);
      Set<String> names = new HashSet<>();
      Matcher label = LABEL.matcher(labels);
      while (label.find()) {
        assertThat(names.add(label.group(1))).as(line).isTrue();
      }
      long value = Long.parseLong(line.substring(line.lastIndexOf(' ') + 1));
      assertThat(families.get(name).samples.put(labels, value)).as("one of each").isNull();
    }
    return families;
  }

  @Test
  void everyNumberIsThereOnce() throws IOException {
    Snapshot one = Snapshot.of(SampleSnapshots.encoded());
    Snapshot two =
        new Snapshot(new Program(12, 13, "two"), one.device(), one.locator(), 1, one.rows());

    Map<String, Family> families = parse(OpenMetrics.text(List.of(one, two)));

    int numbers = 0;
    for (Row row : one.rows()) {
      for (Metric metric : row.subject().kind().metrics()) {
        Family family = families.get("hghca_" + row.subject().kind().prefix() + metric.name());
        assertThat(family.type).isEqualTo(metric.isGauge() ? "gauge" : "counter");
        assertThat(family.unit).isEqualTo(metric.name().endsWith("_bytes") ? "bytes" : "");
        assertThat(family.samples.values()).contains(row.value(metric.name()));
        numbers += 2;
      }
    }
    assertThat(families.values().stream().mapToInt(family -> family.samples.size()).sum())
        .isEqualTo(numbers);
    assertThat(families.get("hghca_qp_sent_bytes").samples)
        .containsEntry(
            "pid=\"4711\",start=\"1700000000123\",program=\"sample \\\"one\\\"\\\\\","
                + "device=\"model:a\",context=\"3\",qp=\"0x000011\",type=\"RC\","
                + "peer=\"192.0.2.1\",peer_qp=\"0xabcdef\"",
            2014L);
  }

  @Test
  void withoutProgramsThereIsTheEndAlone() {
    assertThat(OpenMetrics.text(List.of())).isEqualTo("# EOF\n");
  }

  @Test
  void kindsWithoutRowsHaveNoFamily() throws IOException {
    Snapshot whole = Snapshot.of(SampleSnapshots.encoded());
    List<Row> contexts = whole.rows(Kind.CONTEXT).toList();
    String text =
        OpenMetrics.text(
            List.of(new Snapshot(whole.program(), whole.device(), whole.locator(), 1, contexts)));

    assertThat(parse(text)).hasSize(Kind.CONTEXT.metrics().size());
    assertThat(text).doesNotContain("hghca_qp_", "hghca_port_");
  }

  @Test
  void namesAreThoseOfOpenMetrics() {
    Set<String> names = new HashSet<>();
    for (Kind kind : Kind.values()) {
      for (Metric metric : kind.metrics()) {
        assertThat(kind.prefix() + metric.name()).matches("[a-z][a-z_]*[a-z]");
        assertThat(metric.name()).doesNotEndWith("_total").doesNotEndWith("_count");
        assertThat(names.add(kind.prefix() + metric.name())).isTrue();
        assertThat(metric.description()).isNotBlank().doesNotEndWith(".");
      }
    }
  }
}
