package org.hghca.tools;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.IVersionProvider;

/** Gives the version that the build has written into a resource. */
final class Version implements IVersionProvider {

  @Override
  public String[] getVersion() {
    return new String[] {"hghca " + hghca(), "Java " + Runtime.version()};
  }

  /** The version alone. */
  static String hghca() {
    try (InputStream text = Version.class.getResourceAsStream("version.txt")) {
      return new String(text.readAllBytes(), StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
