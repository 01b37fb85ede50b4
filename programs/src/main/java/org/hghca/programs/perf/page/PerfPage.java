package org.hghca.programs.perf.page;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Results as one self-contained HTML page, which is also well-formed XML. */
public final class PerfPage {
  private PerfPage() {}

  /** The page. */
  public static String of(PerfReport report) {
    Markup page = Markup.document("html");
    page.open("html", "lang", "en").open("head");
    page.empty("meta", "charset", "utf-8");
    page.empty("meta", "name", "viewport", "content", "width=device-width, initial-scale=1");
    page.element("title", report.title());
    page.element("style", style());
    page.close().open("body", "class", "plots");
    page.element("h1", report.title());
    if (report.measurements().size() > 1) {
      page.open("section");
      Plots.overview(report.measurements()).forEach(plot -> plot.write(page));
      page.close();
    }
    sections(page, report.measurements());
    facts(page, report.facts());
    page.close().close();
    return page.toString();
  }

  /** Plots and tables of measurements, as an element of a page that has {@link #plotStyle}. */
  public static void plots(Markup page, List<Measurement> measurements) {
    page.open("div", "class", "plots");
    sections(page, measurements);
    page.close();
  }

  private static void sections(Markup page, List<Measurement> measurements) {
    for (Measurement measurement : measurements) {
      page.open("section");
      if (measurements.size() > 1) {
        page.element("h2", measurement.title());
      }
      measurement.remarks().forEach(remark -> page.element("p", remark));
      if (measurement.figures().isEmpty() && measurement.remarks().isEmpty()) {
        page.element("p", "Nothing was measured on this side.");
      } else if (!measurement.figures().isEmpty()) {
        Plots.of(measurement).forEach(plot -> plot.write(page));
        Table.write(page, measurement);
      }
      page.close();
    }
  }

  private static void facts(Markup page, Map<String, String> facts) {
    page.open("section").element("h2", "Environment").open("dl");
    facts.forEach((name, value) -> page.element("dt", name).element("dd", value));
    page.close().close();
  }

  /** The style of plots and tables. */
  public static String plotStyle() {
    return resource("plots.css");
  }

  /** Without characters that XML would escape, which a browser reads literally here. */
  private static String style() {
    return resource("perf.css") + plotStyle();
  }

  private static String resource(String name) {
    try (InputStream css = PerfPage.class.getResourceAsStream(name)) {
      return new String(css.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
