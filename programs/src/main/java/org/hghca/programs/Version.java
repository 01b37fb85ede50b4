package org.hghca.programs;

import static java.util.function.Predicate.not;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import picocli.CommandLine.IVersionProvider;

/** Gives the version and the commit, which the build has written into resources. */
public final class Version implements IVersionProvider {

  @Override
  public String[] getVersion() {
    return new String[] {"hghca " + hghca(), "Java " + Runtime.version()};
  }

  /** The version alone. */
  public static String hghca() {
    return text("version.txt").orElseThrow();
  }

  /** The commit from which it was built; {@code unknown} outside a repository. */
  public static String commit() {
    return text("commit.txt").filter(not(String::isEmpty)).orElse("unknown");
  }

  /** A resource that the build has written. */
  private static Optional<String> text(String name) {
    try (InputStream text = Version.class.getResourceAsStream(name)) {
      return text == null
          ? Optional.empty()
          : Optional.of(new String(text.readAllBytes(), StandardCharsets.UTF_8).strip());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
