package org.hghca.programs.perf.page;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import javax.xml.parsers.DocumentBuilderFactory;
import org.hghca.programs.perf.result.BandwidthReport;
import org.hghca.programs.perf.result.Course;
import org.hghca.programs.perf.result.DurationLatency;
import org.hghca.programs.perf.result.Figure;
import org.hghca.programs.perf.result.LatencyResult;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class PerfPageTest {
  private static final double WIDTH = 760;
  private static final double HEIGHT = 320;

  private static String page(List<Figure> figures) {
    return PerfPage.of(
        new PerfReport(
            "ib_write_bw, RC",
            Map.of("locator", "model:<a>?x=\"1\"&y='2'\u0001"),
            List.of(new Measurement("ib_write_bw, RC", false, figures, List.of(), List.of()))));
  }

  private static Document parse(String page) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(page)));
  }

  private static List<Element> all(Document page, String tag) {
    NodeList nodes = page.getElementsByTagName(tag);
    List<Element> elements = new ArrayList<>();
    for (int i = 0; i < nodes.getLength(); i++) {
      elements.add((Element) nodes.item(i));
    }
    return elements;
  }

  private static List<String> texts(Document page, String tag) {
    return all(page, tag).stream().map(Element::getTextContent).toList();
  }

  private static List<Figure> allSizes() {
    List<Figure> figures = new ArrayList<>();
    for (int power = 1; power <= 23; power++) {
      figures.add(
          new BandwidthReport(
              1L << power, 1000, 1.1 * (1L << power) / 1000, (1L << power) / 1000.0, 0.001));
    }
    return figures;
  }

  private static LatencyResult latency(long size, int count) {
    Random random = new Random(size);
    double[] samples = random.doubles(count).map(x -> 2 + 100 * Math.pow(x, 30)).toArray();
    return new LatencyResult(size, count + 1, 2, 102, 2.5, 3.25, 1.5, 50, 100, samples);
  }

  @Test
  void throughputBySizeHasALineOfEveryRow() throws Exception {
    Document page = parse(page(allSizes()));
    assertThat(texts(page, "figcaption")).containsExactly("Throughput by size", "Messages by size");
    assertThat(all(page, "polyline"))
        .hasSize(3)
        .allSatisfy(line -> assertThat(line.getAttribute("points").split(" ")).hasSize(23));
    assertThat(all(page, "circle")).hasSize(3 * 23);
    assertThat(texts(page, "th"))
        .containsExactly("bytes", "iterations", "peak, MiB/s", "average, MiB/s", "millions/s");
    assertThat(texts(page, "td")).hasSize(5 * 23).startsWith("2", "1000", "0.00", "0.00");
  }

  @Test
  void everythingIsInsideItsDiagram() throws Exception {
    for (List<Figure> figures :
        List.of(allSizes(), List.<Figure>of(latency(2, 1000), latency(4096, 100_000)))) {
      Document page = parse(page(figures));
      for (Element line : all(page, "polyline")) {
        for (String point : line.getAttribute("points").split(" ")) {
          assertThat(Double.parseDouble(point.split(",")[0])).isBetween(66.0, WIDTH - 34);
          assertThat(Double.parseDouble(point.split(",")[1])).isBetween(36.0, HEIGHT - 46);
        }
      }
      for (Element text : all(page, "text")) {
        double x = Double.parseDouble(text.getAttribute("x"));
        double room = 7.0 * text.getTextContent().length();
        switch (text.getAttribute("text-anchor")) {
          case "end" -> assertThat(x - room).as(text.getTextContent()).isNotNegative();
          case "middle" -> assertThat(x + room / 2).isLessThan(WIDTH);
          default -> assertThat(x + room).isLessThanOrEqualTo(WIDTH);
        }
      }
    }
  }

  @Test
  void rowsOfOneSizeAreThroughputOverTime() throws Exception {
    Document page =
        parse(
            page(
                List.of(
                    new BandwidthReport(64, 2_000_000, 0, 61, 1),
                    new BandwidthReport(64, 1_000_000, 0, 30.5, 0.5),
                    new BandwidthReport(64, 1_000_000, 0, 61, 1))));
    assertThat(texts(page, "figcaption")).containsExactly("Throughput over time");
    assertThat(all(page, "circle").stream().map(Element::getTextContent).map(String::strip))
        .containsExactly("average: 61 at 2", "average: 30.5 at 4", "average: 61 at 5");
    assertThat(texts(page, "td")).startsWith("64", "2000000", "–", "61.00", "1.000000");
  }

  private static Document pageOfCourses(Figure figure, Course... courses) throws Exception {
    Measurement measurement =
        new Measurement("by time", false, List.of(figure), List.of(courses), List.of());
    return parse(PerfPage.of(new PerfReport("by time", Map.of(), List.of(measurement))));
  }

  @Test
  void oneRowByTimeHasItsRateOverTheTime() throws Exception {
    Document page =
        pageOfCourses(
            new BandwidthReport(1 << 20, 300, 0, 100, 0.0001),
            new Course(1 << 20, new double[] {1, 2, 3}, new double[] {50, 150, 100}));
    assertThat(texts(page, "figcaption")).containsExactly("Throughput over time");
    assertThat(all(page, "circle").stream().map(Element::getTextContent).map(String::strip))
        .containsExactly("1 MiB: 50 at 1", "1 MiB: 150 at 2", "1 MiB: 100 at 3");
    assertThat(texts(page, "text")).contains("MiB/s", "seconds");
  }

  @Test
  void latencyByTimeHasItsTransactionsOverTheTime() throws Exception {
    Document page =
        pageOfCourses(
            new DurationLatency(2, 123, 4.5, 111_111.11),
            new Course(2, new double[] {1, 2}, new double[] {1000, 3000}));
    assertThat(texts(page, "figcaption")).containsExactly("Transactions over time");
    assertThat(all(page, "circle").stream().map(Element::getTextContent).map(String::strip))
        .containsExactly("2 B: 1000 at 1", "2 B: 3000 at 2");
  }

  @Test
  void manyTestsHaveAnOverview() throws Exception {
    List<Measurement> measurements =
        List.of(
            new Measurement("ib_write_bw, RC", false, allSizes(), List.of(), List.of()),
            new Measurement("ib_send_bw, UD", false, allSizes(), List.of(), List.of()),
            new Measurement("ib_read_lat, RC", false, List.of(), List.of(), List.of("8 failed")));
    Document page = parse(PerfPage.of(new PerfReport("suite", Map.of(), measurements)));
    assertThat(texts(page, "figcaption")).startsWith("Throughput by size", "Throughput by size");
    assertThat(texts(page, "text")).contains("write RC", "send UD");
    assertThat(texts(page, "h2"))
        .containsExactly("ib_write_bw, RC", "ib_send_bw, UD", "ib_read_lat, RC", "Environment");
    assertThat(texts(page, "p")).containsExactly("8 failed");
  }

  @Test
  void latenciesHaveADistribution() throws Exception {
    List<Figure> figures = new ArrayList<>();
    for (int power = 1; power <= 12; power++) {
      figures.add(latency(1L << power, 1000));
    }
    Document page = parse(page(figures));
    assertThat(texts(page, "figcaption"))
        .containsExactly("Latency by size", "Distribution of latencies");
    assertThat(texts(page, "text"))
        .contains("99 %", "median", "minimum", "0 %", "50 %", "90 %", "99.9 %")
        .contains("2 B", "4 KiB");
    assertThat(all(page, "polyline")).hasSize(3 + Plot.MOST_LINES);
  }

  @Test
  void aRowByTimeIsATableOnly() throws Exception {
    Document page = parse(page(List.of(new DurationLatency(2, 123, 4.5, 111_111.11))));
    assertThat(all(page, "svg")).isEmpty();
    assertThat(texts(page, "td")).containsExactly("2", "123", "4.50", "111111.11");
  }

  @Test
  void aSideWithoutRowsSaysSo() throws Exception {
    assertThat(texts(parse(page(List.of())), "p"))
        .containsExactly("Nothing was measured on this side.");
  }

  @Test
  void textIsEscaped() throws Exception {
    assertThat(texts(parse(page(List.of())), "dd"))
        .containsExactly("model:<a>?x=\"1\"&y='2'\ufffd");
  }

  @Test
  void nothingIsLoaded() {
    String page = page(allSizes());
    assertThat(page)
        .startsWith("<!DOCTYPE html>\n<html lang=\"en\">")
        .doesNotContainPattern("(?i)https?:|src=|href=|url\\(|@import|<script");
    String style = page.substring(page.indexOf("<style>") + 7, page.indexOf("</style>"));
    assertThat(style).contains("prefers-color-scheme: dark").doesNotContain("&");
  }
}
