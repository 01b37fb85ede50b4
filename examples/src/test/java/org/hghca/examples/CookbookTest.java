package org.hghca.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** The page {@code docs/cookbook.md}: its recipes compile, and it names every program. */
class CookbookTest {
  private static final Pattern RECIPE =
      Pattern.compile("## ([^\n]+)\n(?:(?!\n## )[\\s\\S])*?```java\n([\\s\\S]*?)```");

  /** What the recipes say they have. */
  private static final String FRAME =
      """
      import java.net.InetSocketAddress;
      import org.hghca.cm.*;
      import org.hghca.verbs.*;

      abstract class Recipe {
        Context context;
        ProtectionDomain pd;
        CompletionChannel channel;
        CompletionQueue cq;
        QueuePair qp;
        MemoryRegion memory;
        RemoteMemory remote;
        InetSocketAddress server;
        Completions completions;

        abstract void handle(Completions completions, int count);

        void recipe() throws Exception {
          RECIPE;
        }
      }
      """;

  @TempDir Path folder;

  private static String page() {
    try {
      return Files.readString(Path.of("../docs/cookbook.md"));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @TestFactory
  Stream<DynamicTest> recipesCompile() {
    List<DynamicTest> tests = new ArrayList<>();
    RECIPE
        .matcher(page())
        .results()
        .forEach(
            found ->
                tests.add(
                    DynamicTest.dynamicTest(
                        found.group(1), () -> compile(FRAME.replace("RECIPE;", found.group(2))))));
    assertThat(tests).hasSize(7);
    return tests.stream();
  }

  private void compile(String source) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    JavaFileObject file =
        new SimpleJavaFileObject(URI.create("string:///Recipe.java"), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return source;
          }
        };
    StringWriter said = new StringWriter();
    List<String> options =
        List.of("-d", folder.toString(), "-cp", System.getProperty("java.class.path"));
    boolean compiled = compiler.getTask(said, null, null, options, null, List.of(file)).call();
    assertThat(compiled).as(said.toString()).isTrue();
  }

  @Test
  void pageNamesEveryProgram() {
    assertThat(Main.names()).allMatch(name -> page().contains("\n| `" + name + "` |"));
  }
}
