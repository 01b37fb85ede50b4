package org.hghca.tools.bringup.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import org.hghca.tools.CommandLineRun;
import org.junit.jupiter.api.Test;

/** Errors that the function reports, where the platform does not report refused DMA. */
class BringupErrorsTest {
  private static final String LIKELY =
      "likely    DMA was refused: the function has received master abort as the answer to a read";

  /** With a driver whose function is tapped, so that it can be read beside it. */
  private static CommandLineRun bringup(String device) {
    InputStream before = System.in;
    System.setIn(InputStream.nullInputStream());
    try {
      return CommandLineRun.of(
          "bringup",
          "-d",
          device,
          "--keep",
          "--only=pci.capabilities,pci.errors,rc.send,driver.close");
    } finally {
      System.setIn(before);
    }
  }

  @Test
  void refusedReadIsFoundBeforeTheDriver() {
    CommandLineRun run = bringup("faulty:refused-early").assertExit(1);
    assertThat(run.out())
        .contains("FAIL  pci.errors", "the function reports received master abort", LIKELY)
        .contains("--keep ended the steps at pci.errors");
  }

  @Test
  void refusedReadIsFoundWhileTheDriverHasTheBoard() {
    CommandLineRun run = bringup("faulty:refused-late").assertExit(1);
    assertThat(run.out())
        .contains("PASS  pci.errors", "PASS  rc.send", "FAIL  driver.close")
        .contains("the function has reported received master abort while the driver had it")
        .contains(LIKELY);
  }
}
