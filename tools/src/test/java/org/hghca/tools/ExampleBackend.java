package org.hghca.tools;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/** Builds jars of backends, as external projects do. */
final class ExampleBackend {
  static final String SERVICES = "META-INF/services/org.hghca.vfio.PciFunctionProvider";

  private static final Path SOURCES = Path.of("src/test/example");

  private ExampleBackend() {}

  /** The example of the documentation. */
  static Path jar(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(SOURCES)) {
      List<Path> sources = files.filter(file -> file.toString().endsWith(".java")).toList();
      return jar(folder, "example.jar", sources, "org.example.hca.ExampleProvider");
    }
  }

  /** The sources compiled without a warning, with a provider named as the service. */
  static Path jar(Path folder, String name, List<Path> sources, String provider)
      throws IOException {
    Path classes = Files.createDirectories(folder.resolve(name + ".classes"));
    compile(classes, sources);
    Path services = classes.resolve(SERVICES);
    Files.createDirectories(services.getParent());
    Files.writeString(services, provider);
    Path jar = folder.resolve(name);
    Jars.of(classes, jar);
    return jar;
  }

  private static void compile(Path classes, List<Path> sources) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "-proc:none",
                "-Xlint:all,-path",
                "-Werror",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                classes.toString()));
    sources.forEach(source -> arguments.add(source.toString()));
    int result = compiler.run(null, null, null, arguments.toArray(String[]::new));
    assertThat(result).as("javac").isZero();
  }
}
