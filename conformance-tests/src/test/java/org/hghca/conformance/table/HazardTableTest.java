package org.hghca.conformance.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Test;

/** The list of what breaks a card, and the tests that guard it. */
class HazardTableTest {

  @Test
  void theCommittedListNamesTheTestsThatExist() throws IOException {
    if (!System.getProperty("hghca.table", "").isEmpty()) {
      Files.writeString(HazardTable.committed(), HazardTable.render());
    }
    assertThat(Files.readString(HazardTable.committed()))
        .as("%s; make it anew: %s", HazardTable.committed(), CaseTable.COMMAND)
        .isEqualTo(HazardTable.render());
  }

  @Test
  void everyHazardIsGuarded() {
    assertThat(HazardTable.guards())
        .allSatisfy((line, tests) -> assertThat(tests).as("tests of line %s", line).isNotEmpty());
  }

  @Test
  void linesStandInTheOrderOfTheirNumbers() {
    assertThat(Hazard.ORDER.compare("12.2", "12.10")).isNegative();
    assertThat(Hazard.ORDER.compare("12.12", "2.3")).isNegative();
    assertThat(Hazard.ORDER.compare("8", "5.4")).isPositive();
  }
}
