package org.hghca.conformance.document;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.hghca.conformance.process.OtherJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the README promises. */
class ReadmeTest {
  private static final String BEGIN = "```java\n";
  private static final int LINES = 160;

  private static String readme() {
    return Documents.read(Documents.project().resolve("README.md"));
  }

  @Test
  void readmeIsShort() {
    assertThat(readme().lines()).hasSizeLessThanOrEqualTo(LINES);
  }

  @Test
  void programOfTheReadmeCompilesAndMovesData(@TempDir Path folder) throws IOException {
    String readme = readme();
    int begin = readme.indexOf(BEGIN) + BEGIN.length();
    Path source =
        Files.writeString(
            folder.resolve("Hello.java"), readme.substring(begin, readme.indexOf("```", begin)));

    assertThat(OtherJvm.runSource(source).assertSuccess().said())
        .contains("wr_id 1: success")
        .contains("wr_id 2: success")
        .contains("hello over RDMA");
  }
}
