package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;

class HghcaToolTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    ToolProvider tool = ToolProvider.findFirst("hghca").orElseThrow();
    return tool.run(new PrintWriter(out), new PrintWriter(err), arguments);
  }

  @Test
  void programsRunTheCommandLine() {
    assertThat(run("--version")).isZero();
    assertThat(out.toString()).startsWith("hghca ");
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void exitCodesAndMessagesAreThoseOfTheCommand() {
    assertThat(run("--nosuch")).isEqualTo(2);
    assertThat(err.toString()).contains("--nosuch");
  }
}
