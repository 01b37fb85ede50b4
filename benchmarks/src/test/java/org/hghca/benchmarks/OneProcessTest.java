package org.hghca.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** The comparison of software devices runs; its streams compare the memories at their end. */
@Tag("long")
@Isolated("it takes over the standard output")
class OneProcessTest {
  private static String printed(String... arguments) throws InterruptedException {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      OneProcess.main(arguments);
    } finally {
      System.setOut(before);
    }
    return printed.toString(StandardCharsets.UTF_8);
  }

  @Test
  void twoKindsSideBySide() throws InterruptedException {
    List<String> lines = printed("0.005", "1", "model", "virtio").lines().toList();

    assertThat(lines).anyMatch(line -> line.startsWith("model: WRITEs over 256, million/s"));
    assertThat(lines).anyMatch(line -> line.startsWith("virtio: WRITEs over 120, million/s"));
    assertThat(lines).filteredOn(line -> line.contains("median")).hasSize(1 + 2 * 9);
    assertThat(lines).filteredOn(line -> line.contains("100 idle")).hasSize(2);
  }
}
