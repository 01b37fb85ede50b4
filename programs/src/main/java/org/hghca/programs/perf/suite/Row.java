package org.hghca.programs.perf.suite;

import java.util.List;
import java.util.Map;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.result.Course;
import org.hghca.programs.perf.result.Figure;

/** What became of one size of one test. */
public sealed interface Row {
  /** What was asked for. */
  Parameters asked();

  /** The test of which it is a row, such as {@code ib_write_bw, RC}. */
  default String test() {
    return "%s, %s".formatted(asked().test().program(), asked().type());
  }

  /**
   * It was measured.
   *
   * @param figure the row
   * @param courses its rate over the time
   * @param document {@code test_info} and {@code results}, as perftest has them
   */
  record Measured(
      Parameters asked, Figure figure, List<Course> courses, Map<String, Object> document)
      implements Row {}

  /** It failed, for a reason. */
  record Failed(Parameters asked, String why) implements Row {
    String remark() {
      return "%-7d    failed: %s".formatted(asked.largest(), why);
    }
  }

  /** The device does not have it; its other sizes are left out. */
  record Unsupported(Parameters asked, String why) implements Row {
    String remark() {
      return "not supported by the device: " + why;
    }
  }
}
