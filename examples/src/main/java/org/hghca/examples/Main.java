package org.hghca.examples;

import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.hghca.examples.CommandLine.UsageException;

/** Starts a program by its name. */
public final class Main {
  private static final Map<String, Example> EXAMPLES = new LinkedHashMap<>();

  static {
    EXAMPLES.put("rc", new Rc());
    EXAMPLES.put("mckey", new Mckey());
    EXAMPLES.put("mc", new Mc());
    EXAMPLES.put("apm", new Apm());
    EXAMPLES.put("srq", new Srq());
    EXAMPLES.put("rpc", new Rpc());
    EXAMPLES.put("kv", new Kv());
    EXAMPLES.put("file", new FileCopy());
  }

  private static final String USAGE =
      """
      examples/run NAME [-d DEVICE [-d DEVICE]]                both ends, on two software HCAs or on these devices
      examples/run NAME server [-d DEVICE] [-p PORT] [-b ADDRESS] [-c ib|tcp]
      examples/run NAME client HOST [-d DEVICE] [-p PORT] [-c ib|tcp]      one end, the other in another process
      """;

  private final PrintStream out;
  private final PrintStream err;

  private Main(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  /** Starts a program and ends the process with its exit code. */
  public static void main(String[] args) {
    System.exit(run(System.out, System.err, args));
  }

  /** The names of all programs. */
  static Set<String> names() {
    return EXAMPLES.keySet();
  }

  /**
   * Runs a program.
   *
   * @return the number of an {@link ExitCode}
   */
  static int run(PrintStream out, PrintStream err, String... args) {
    return new Main(out, err).run(List.of(args)).code();
  }

  private ExitCode run(List<String> words) {
    if (words.isEmpty()) {
      out.println(USAGE);
      EXAMPLES.forEach((name, example) -> out.println("%-6s %s".formatted(name, example.shows())));
      return ExitCode.OK;
    }
    String name = words.getFirst();
    Example example = EXAMPLES.get(name);
    try {
      if (example == null) {
        throw new UsageException("there is no example %s: %s".formatted(name, EXAMPLES.keySet()));
      }
      return new Run(name, example, CommandLine.parse(words.subList(1, words.size())), out, err)
          .run();
    } catch (UsageException e) {
      err.println("examples: " + e.getMessage());
      err.print(USAGE);
      err.flush();
      return ExitCode.USAGE;
    }
  }
}
