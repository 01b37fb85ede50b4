package org.hghca.tools.bringup.step;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is said of a message that did not complete. */
class StagesTest {
  @Test
  void whatSoftwareCannotSeeIsSaid() {
    assertThat(new Stages(false, Optional.of(false), false).text())
        .isEqualTo(
            "stages: doorbell written: seen; WQE fetched, payload read, packet out, packet in:"
                + " cannot be seen; payload written: not seen; CQE of the receiver: not seen; CQE"
                + " of the sender: not seen");
  }

  @Test
  void laterStageProvesEarlierOnes() {
    assertThat(new Stages(true, Optional.empty(), false).text())
        .isEqualTo(
            "stages: doorbell written: seen; WQE fetched, payload read, packet out, packet in:"
                + " follows from the next ones; payload written: seen; CQE of the sender: not"
                + " seen");
    assertThat(new Stages(false, Optional.of(true), false).text())
        .contains("packet in: follows from the next ones", "CQE of the receiver: seen");
  }
}
