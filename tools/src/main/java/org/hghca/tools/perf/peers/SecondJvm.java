package org.hghca.tools.perf.peers;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command that starts one more JVM like this one. */
final class SecondJvm {
  private static final List<String> ELSEWHERE = List.of("--module-path", "-Djdk.module.");

  private SecondJvm() {}

  /**
   * The command: the same program {@code java}, options, and class or module path.
   *
   * @param options more options of the JVM
   * @param main a class of this module
   */
  static List<String> command(List<String> options, Class<?> main, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> ELSEWHERE.stream().noneMatch(option::startsWith))
        .forEach(command::add);
    command.addAll(options);
    Module module = main.getModule();
    if (module.isNamed()) {
      command.addAll(List.of("--module-path", System.getProperty("jdk.module.path")));
      command.addAll(List.of("--module", module.getName() + "/" + main.getName()));
    } else {
      command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    }
    command.addAll(arguments);
    return command;
  }
}
