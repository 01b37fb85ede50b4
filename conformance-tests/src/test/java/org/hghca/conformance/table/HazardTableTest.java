package org.hghca.conformance.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The list of what breaks a card, and the tests that guard it. */
class HazardTableTest {
  private static final String SAYS =
      "%s; regenerate it: %s".formatted(HazardTable.committed(), HazardTable.COMMAND);

  /** Tests may be newer than the list; it names no test that does not exist, and omits no line. */
  @Test
  void committedListIsTrue() throws IOException {
    if (!System.getProperty("hghca.table", "").isEmpty()) {
      Files.writeString(HazardTable.committed(), HazardTable.render());
    }
    Map<String, Set<String>> guards = HazardTable.guards();
    Map<String, Set<String>> listed = HazardTable.listed(Files.readString(HazardTable.committed()));
    assertThat(listed.keySet())
        .as(SAYS)
        .containsAll(Hazard.all().stream().map(Hazard::line).toList())
        .isSubsetOf(guards.keySet());
    assertThat(listed)
        .allSatisfy(
            (line, tests) ->
                assertThat(guards.get(line)).as("line %s of %s", line, SAYS).containsAll(tests));
    assertThat(listed)
        .allSatisfy((line, tests) -> assertThat(tests).as("%s, %s", line, SAYS).isNotEmpty());
  }

  @Test
  void listMatchesTheTags() {
    assertThat(HazardTable.listed(HazardTable.render())).isEqualTo(HazardTable.guards());
  }

  @Test
  void everyHazardIsGuarded() {
    assertThat(HazardTable.guards())
        .allSatisfy((line, tests) -> assertThat(tests).as("tests of line %s", line).isNotEmpty());
  }

  @Test
  void everyTagNamesAnExistingLine() {
    assertThat(HazardTable.guards().keySet())
        .allSatisfy(line -> assertThat(Hazard.of(line).what()).as("tag %s", line).isNotEmpty());
  }

  @Test
  void tableOfHazardsComesFirst() {
    assertThat(Hazard.ORDER.compare("12.2", "12.10")).isNegative();
    assertThat(Hazard.ORDER.compare("12.12", "2.3")).isNegative();
    assertThat(Hazard.ORDER.compare("8", "5.4")).isPositive();
  }
}
