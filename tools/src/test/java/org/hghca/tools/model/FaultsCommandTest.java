package org.hghca.tools.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.hghca.model.CardFault;
import org.hghca.programs.ExitCode;
import org.hghca.tools.CommandLineRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FaultsCommandTest {

  @Test
  void eachFaultHasItsNameItsCardsAndItsConclusion() {
    CommandLineRun run = CommandLineRun.of("model", "faults").assertExit(0);
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .startsWith("dead-doorbell           s, r1, r2, virtio\n")
        .contains("    conclusion: doorbells do not reach the card\n")
        .contains("no-eqe                  s\n    no event is written\n")
        .contains("    conclusion: none: PASSED\n");
    assertThat(run.out().lines().filter(line -> line.startsWith("    conclusion: ")))
        .hasSameSizeAs(CardFault.all());
  }

  @Test
  void jsonHasTheSame() throws IOException {
    CommandLineRun run = CommandLineRun.of("model", "faults", "--json").assertExit(0);
    Object faults = JSON.std.mapFrom(run.out()).get("faults");
    assertThat(faults)
        .asInstanceOf(InstanceOfAssertFactories.LIST)
        .hasSameSizeAs(CardFault.all())
        .contains(
            Map.of(
                "name", "one-vector",
                "cards", List.of("s", "virtio"),
                "description", "the function has one interrupt vector",
                "conclusion", "none: PASSED",
                "legal", true));
  }

  @ParameterizedTest
  @CsvSource({
    "model:x?fault=foo, fault=foo is unknown: `hghca model faults` lists them",
    "virtio:x?fault=no-hcr, 'fault=no-hcr is for s, r1, r2, not for virtio'"
  })
  void faultThatACardCannotPlayIsRefused(String locator, String message) {
    CommandLineRun run =
        CommandLineRun.of("info", "-d", locator).assertExit(ExitCode.NOT_OPENED.code());
    assertThat(run.err()).contains(message);
  }
}
