package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Command lines are found in pages, and their programs in them. */
class DocumentedCommandTest {
  private static List<String> found(String page) {
    return DocumentedCommand.of("page.md", page).stream().map(DocumentedCommand::toString).toList();
  }

  private static String command(int line, String text) {
    return new DocumentedCommand("page.md:" + line, text).toString();
  }

  @Test
  void linesBehindAPromptAreCommands() {
    assertThat(
            found(
                """
                $ no block
                ```console
                $ tools/bin/hghca info -d 'model:#1'    # what it prints
                model:
                $ mvn verify \\
                    -Dx
                ```
                ```java
                $ no shell
                ```
                """))
        .containsExactly(
            command(3, "tools/bin/hghca info -d 'model:#1'"), command(5, "mvn verify -Dx"));
  }

  @Test
  void ourProgramsNeedNoPromptInAPlainBlock() {
    assertThat(
            found(
                """
                ```
                tools/bin/hghca model serve --socket /tmp/a.sock &
                it doesn't end
                ```
                """))
        .containsExactly(command(2, "tools/bin/hghca model serve --socket /tmp/a.sock"));
  }

  @Test
  void programsAreTheFirstWordsWithoutSudoAndVariables() {
    assertThat(DocumentedCommand.words("sudo a 'b; c' \"d\"''; X=1 e | f && g -d <locator>"))
        .containsExactly(
            List.of("a", "b; c", "d"), List.of("e"), List.of("f"), List.of("g", "-d", "model:"));
    assertThatThrownBy(() -> DocumentedCommand.words("a 'b")).hasMessage("a quote is open: a 'b");
    assertThat(DocumentedCommand.isOurs("tools/bin/rping")).isTrue();
    assertThat(DocumentedCommand.isOurs("ib_write_bw")).isTrue();
    assertThat(DocumentedCommand.isOurs("ip")).isFalse();
  }
}
