package org.hghca.tools.card.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.hghca.tools.CommandLineRun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code hghca card} with wrong lines, files, options and devices. */
class CardRefusalsTest {
  @TempDir Path folder;

  private CommandLineRun card(String device, String... lines) {
    return CardScript.run(folder, List.of(), device, lines);
  }

  private CommandLineRun card(List<String> options, String device, String... lines) {
    return CardScript.run(folder, options, device, lines);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "prob ~ there is no command 'prob': the nearest is probe; help lists them",
        "hcr ~ a command is missing: hcr NAME|NUMBER",
        "hcr QUERY_DEVLIM ~ no command 'QUERY_DEVLIM': the nearest is QUERY_DEV_LIM",
        "hcr 0x1000 ~ an opcode has at most 12 bits, not 0x1000",
        "hcr NOP color=1 ~ 'color=1' is not known",
        "hcr NOP in_modifier=x ~ in_modifier is a number such as 24, 0x18 or 18h, not 'x'",
        "hcr MAP_ICM ~ MAP_ICM needs op_modifier=1,2",
        "hcr INIT_HCA ~ INIT_HCA needs an inbox of 64 bytes: --in FILE",
        "hcr INIT_HCA --in 00 ~ the inbox of INIT_HCA has 64 bytes, not 1",
        "hcr NOP --in 00 ~ NOP has no inbox",
        "hcr INIT_HCA --in nosuch ~ --in nosuch is no file that can be read",
        "reg read ~ a register is missing: reg read BAR+OFFSET",
        "reg peek 0+0 ~ reg has no command 'peek'",
        "reg read 18 ~ a register is BAR+OFFSET, such as 0+0x18, not '18'",
        "reg read 0+0x12 ~ BAR0 + 0x00012 is not aligned: an access of 32 bits needs a multiple of"
            + " 4",
        "reg read 0+0x100000 ~ BAR0 + 0x100000 is outside: BAR0 has 0x100000 bytes",
        "reg read 1+0 ~ model:c has no BAR1",
        "reg read 7+0 ~ the BAR is 0 to 5, not 7",
        "reg read 0+0 4 ~ a width is 8, 16, 32 or 64 bits, not '4'",
        "reg write 0+0 ~ a value is missing",
        "reg write 0+0 0x100000000 ~ the value has at most 32 bits",
        "reg read 0+0 32 more ~ 'more' is too much",
        "cfg read 0x1000 ~ offset 0x1000 is outside: configuration space has 0x1000 bytes",
        "cfg read 2 32 ~ offset 0x2 is not aligned",
        "cfg write 4 ~ cfg has no command 'write'",
        "dump qp 5 ~ dump needs tables that are mapped: init comes first",
        "dump pq 5 ~ dump knows no 'pq'",
        "dump qp -1 ~ the number of the qp is a number",
        "dump qp 5 \"6 ~ the quote \" is not closed"
      })
  void badLineIsRefusedInOneLine(String line, String why) {
    CommandLineRun run = card(List.of("--profile", "s"), "model:c", line).assertExit(1);
    assertThat(run.err()).startsWith("hghca: " + folder).contains(why).doesNotContain("internal");
    assertThat(run.err().lines()).hasSize(1);
  }

  @Test
  void missingScriptIsNamed() {
    CommandLineRun run =
        CommandLineRun.of("card", "-d", "model:c", "--script", "nosuch.txt").assertExit(2);
    assertThat(run.err()).isEqualTo("hghca: --script: nosuch.txt cannot be read: no such file\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--keep-going", "--profile=r9", "--limit=soon", "--nosuch"})
  void wrongOptionIsWrongUsage(String option) {
    CommandLineRun run = CommandLineRun.of("card", "-d", "model:c", option).assertExit(2);
    assertThat(run.err()).contains("Usage: hghca card");
  }

  @ParameterizedTest
  @CsvSource({
    "nosuch:0, no backend for locator 'nosuch:0'",
    "model:c?nosuch=1, unknown parameter 'nosuch'",
    "virtio:v, virtio:v is a virtio device"
  })
  void functionThatIsNotOpenedIsExitCode3(String device, String why) {
    CommandLineRun run = card(device, "probe").assertExit(3);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("hghca: ").contains(why);
    assertThat(run.err().lines()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({
    "faulty:all-ones, probe, 'BAR0 + 0x00000 reads all ones: the card is gone'",
    "faulty:gone, cfg, reads all ones: the card is gone",
    "faulty:gone, reg read 0+0, reads all ones: the card is gone",
    "faulty:gone, cfg read 0, reads all ones: the card is gone"
  })
  void cardThatIsGoneIsExitCode4(String device, String line, String why) {
    CommandLineRun run = card(device, line).assertExit(4);
    assertThat(run.err()).contains(why);
    assertThat(run.err().lines()).hasSize(1);
  }

  @Test
  void cardThatVanishesAmidADumpIsOneLine() {
    CommandLineRun run = card("faulty:vanishing", "init", "dump qp 5", "cfg").assertExit(4);
    assertThat(run.out()).contains("object  qp\n").doesNotContain("vendor");
    assertThat(run.err().lines())
        .singleElement()
        .asString()
        .startsWith("hghca: ")
        .contains("all ones: the card is gone");
  }

  @Test
  void boardWithoutHcrIsNoStop() {
    CommandLineRun run = card("faulty:no-hcr", "probe").assertExit(1);
    assertThat(run.err())
        .contains("there is no HCR: BAR0 + 0x00000 is not an HCR", "BAR0 + 0x80000 is not an HCR");
  }

  @Test
  void namedProfileMustFitTheCard() {
    CommandLineRun run =
        card(List.of("--profile", "s"), "model:c?profile=r1", "probe").assertExit(1);
    assertThat(run.err()).contains("the HCR is at 0x00000: this is no card of profile s");
  }
}
