package org.hghca.conformance.lab;

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;

/**
 * Runs tools, {@code hghca} and {@link TestTool} among them, one after the other for a shell:
 * starting and warming up a JVM takes long on an emulated processor.
 *
 * <p>A request is a line of stdin with fields between tabs: system properties as in {@code
 * -Dkey=value}, the name of the tool, its arguments.
 */
final class ToolServer {
  private static final String PROPERTY = "-D";

  private ToolServer() {}

  /**
   * Serves until stdin ends.
   *
   * @param args the file for the output of the last tool, and the one for its exit code
   */
  public static void main(String[] args) throws IOException {
    BufferedReader requests =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      List<String> fields = new ArrayList<>(List.of(line.split("\t", -1)));
      int status;
      try (PrintStream stream = new PrintStream(new FileOutputStream(args[0]), true)) {
        status = run(fields, stream);
      }
      Files.writeString(Path.of(args[1]), status + "\n");
    }
  }

  /** Output that bypasses a tool's own streams goes to the same place. */
  private static int run(List<String> fields, PrintStream stream) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    System.setOut(stream);
    System.setErr(stream);
    try {
      while (fields.getFirst().startsWith(PROPERTY)) {
        String[] property = fields.removeFirst().substring(PROPERTY.length()).split("=", 2);
        System.setProperty(property[0], property[1]);
      }
      PrintWriter writer = new PrintWriter(stream, true, stream.charset());
      return ToolProvider.findFirst(fields.removeFirst())
          .orElseThrow()
          .run(writer, writer, fields.toArray(String[]::new));
    } catch (RuntimeException | Error e) {
      e.printStackTrace(stream);
      return 1;
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }
}
