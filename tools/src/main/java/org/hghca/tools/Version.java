package org.hghca.tools;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.IVersionProvider;

/** Gives the version that the build has written into a resource. */
final class Version implements IVersionProvider {

  @Override
  public String[] getVersion() throws IOException {
    try (InputStream text = Version.class.getResourceAsStream("version.txt")) {
      String version = new String(text.readAllBytes(), StandardCharsets.UTF_8).strip();
      return new String[] {"hghca " + version, "Java " + Runtime.version()};
    }
  }
}
