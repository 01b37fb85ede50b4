package org.hghca.conformance.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import org.hghca.vfio.DriverParameter;
import org.junit.jupiter.api.Test;

/** The page of locators lists exactly the driver's parameters in the code. */
class LocatorsDocumentTest {

  @Test
  void parametersOfThePageAreThoseOfTheCode() throws IOException {
    List<String> rows =
        Files.readAllLines(CaseTable.project().resolve("docs/locators.md")).stream()
            .filter(line -> line.matches("\\| `\\w+=` \\|.*"))
            .toList();

    assertThat(rows)
        .containsExactlyElementsOf(
            Arrays.stream(DriverParameter.values())
                .map(p -> "| `%s=` | %s | %s |".formatted(p.key(), p.form(), p.meaning()))
                .toList());
  }
}
