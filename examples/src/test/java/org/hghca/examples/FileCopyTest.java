package org.hghca.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program {@code file}. */
class FileCopyTest {
  private static final Pattern TARGET = Pattern.compile("server: the file is (.*)");

  @TempDir Path folder;

  private Path source(int bytes) throws IOException {
    byte[] content = new byte[bytes];
    new Random(2).nextBytes(content);
    return Files.write(folder.resolve("source"), content);
  }

  private static void assertArrived(Path source, Outcome outcome) throws IOException {
    Matcher target = TARGET.matcher(outcome.assertSuccess().said());
    assertThat(target.find()).as(outcome.said()).isTrue();
    Path received = Path.of(target.group(1));
    assertThat(Files.mismatch(source, received)).isEqualTo(-1);
    Files.delete(received);
  }

  @Test
  void largeFileArrivesInParts() throws IOException {
    Path source = source((9 << 20) + 1);
    Outcome outcome = Outcome.of("file", source.toString());
    assertArrived(source, outcome);
    assertThat(outcome.said())
        .contains("client:  88 %, 8388608 of 9437185 bytes")
        .contains("client: 100 %, 9437185 of 9437185 bytes");
  }

  @Test
  void emptyFileArrives() throws IOException {
    Path source = source(0);
    assertArrived(source, Outcome.of("file", source.toString()));
  }

  @Test
  void fileArrivesOnCardsOfTheFirstRtl() throws IOException {
    Path source = source(2_000_001);
    assertArrived(source, Outcome.of(Devices.ofTheFirstRtl("file", source.toString())));
  }

  @Test
  void withoutAFileItSendsRandomBytes() throws IOException {
    Outcome outcome = Outcome.of("file");
    Matcher target = TARGET.matcher(outcome.assertSuccess().said());
    assertThat(target.find()).isTrue();
    assertThat(Files.size(Path.of(target.group(1)))).isEqualTo(17_301_505);
    Files.delete(Path.of(target.group(1)));
  }

  @Test
  void missingFileIsNamedAndNothingIsLeft() throws IOException {
    Set<Path> before = received();
    Outcome outcome = Outcome.of("file", folder.resolve("nothing").toString());
    assertThat(outcome.exitCode()).isEqualTo(1);
    assertThat(outcome.complained()).contains("nothing");
    assertThat(received()).isEqualTo(before);
  }

  private static Set<Path> received() throws IOException {
    try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("hghca-received-"))
          .collect(Collectors.toSet());
    }
  }
}
