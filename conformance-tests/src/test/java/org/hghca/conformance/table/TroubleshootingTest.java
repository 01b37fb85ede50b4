package org.hghca.conformance.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code docs/troubleshooting.md} has every message with which opening a card can fail. */
class TroubleshootingTest {
  private static final String LITERAL = "\"(?:[^\"\\\\]|\\\\.)*\"";

  /** The places where the sources name the reason of a failure, or start a finding. */
  private static final Pattern MESSAGE =
      Pattern.compile(
          ("(?:(?:Reason|Errno)\\.[A-Z_]+,|Failures\\.(?:of|checked)\\("
                  + "|Finding\\.(?:note|problem)\\(\\s*(?:\\w+|%1$s),|String (?:what|found) =)"
                  + "\\s*\\(*\\s*(?:\\w+ \\+ )?((?:%1$s\\s*\\+?\\s*)+)")
              .formatted(LITERAL));

  private static final Pattern LITERALS = Pattern.compile(LITERAL);

  /** Placeholders, and the ends of the words that identify a message. */
  private static final Pattern BETWEEN_WORDS = Pattern.compile("%\\w+|[:;,()]");

  private static final int WORDS = 10;

  /** The packages and classes whose failures are visible when a card is opened. */
  private static final List<String> SOURCES =
      List.of(
          "vfio/src/main/java/org/hghca/vfio",
          "vfio/src/main/java/org/hghca/vfio/dma",
          "vfio/src/main/java/org/hghca/vfio/kernel",
          "vfio/src/main/java/org/hghca/vfio/user/UserSocket.java",
          "vfio/src/main/java/org/hghca/vfio/user/UserConnection.java",
          "vfio/src/main/java/org/hghca/vfio/user/UserFunction.java",
          "vfio/src/main/java/org/hghca/vfio/user/UserOptions.java",
          "vfio/src/main/java/org/hghca/vfio/user/UserListener.java",
          "virtio/src/main/java/org/hghca/virtio/VirtioDevice.java",
          "virtio-driver/src/main/java/org/hghca/virtio/driver/BringUp.java",
          "hghca-driver/src/main/java/org/hghca/driver/bringup/BringUp.java",
          "hghca-driver/src/main/java/org/hghca/driver/bringup/Recognition.java");

  private static List<Path> files() throws IOException {
    List<Path> files = new ArrayList<>();
    for (String source : SOURCES) {
      Path path = CaseTable.project().resolve(source);
      if (Files.isDirectory(path)) {
        try (Stream<Path> entries = Files.list(path)) {
          entries.filter(file -> file.toString().endsWith(".java")).sorted().forEach(files::add);
        }
      } else {
        files.add(path);
      }
    }
    return files;
  }

  /** The words that identify a message: the first that are long enough, else the longest. */
  private static String words(String message) {
    List<String> pieces =
        Arrays.stream(BETWEEN_WORDS.split(message))
            .map(piece -> piece.replaceAll("^[ '`]+|[ '`]+$", ""))
            .toList();
    return pieces.stream()
        .filter(piece -> piece.length() >= WORDS)
        .findFirst()
        .orElseGet(
            () -> pieces.stream().max(Comparator.comparingInt(String::length)).orElseThrow());
  }

  /** Each message's words, with the file that has it. */
  private static Map<String, String> messages() throws IOException {
    Map<String, String> messages = new TreeMap<>();
    for (Path file : files()) {
      Matcher message = MESSAGE.matcher(Files.readString(file));
      while (message.find()) {
        String text =
            LITERALS
                .matcher(message.group(1))
                .results()
                .map(literal -> literal.group().substring(1, literal.group().length() - 1))
                .collect(Collectors.joining());
        messages.put(words(text), file.getFileName().toString());
      }
    }
    return messages;
  }

  @Test
  void messagesAreFoundInTheSources() throws IOException {
    assertThat(messages())
        .containsEntry("has no IOMMU group", "FunctionFindings.java")
        .containsEntry("interrupts are not remapped", "IommuFindings.java")
        .containsEntry("no PCI function", "PciBus.java")
        .hasSizeGreaterThan(70);
  }

  @Test
  void everyMessageIsInTheDocument() throws IOException {
    String document = Files.readString(CaseTable.project().resolve("docs/troubleshooting.md"));

    assertThat(messages().keySet().stream().filter(words -> !document.contains(words)))
        .as("messages that the document lacks")
        .isEmpty();
  }
}
