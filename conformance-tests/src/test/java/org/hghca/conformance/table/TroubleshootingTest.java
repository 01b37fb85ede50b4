package org.hghca.conformance.table;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
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

/**
 * {@code docs/troubleshooting.md} has every message with which opening a card can fail, and every
 * line of the log.
 */
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
  private static final Pattern BETWEEN_WORDS = Pattern.compile("%\\w+|\\{}|[:;,()]");

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
        messages.put(words(joined(message.group(1))), file.getFileName().toString());
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

  /** A call that logs, up to the end of its statement. */
  private static final Pattern LINE =
      Pattern.compile("\\b(?:LOG|log)\\.(?:error|warn|info)\\((.*?)\\);\\n", Pattern.DOTALL);

  /** What the line is about, before its message. */
  private static final Pattern ABOUT =
      Pattern.compile(
          "^\\s*(?:About\\.\\w+(?:\\(.*?\\))?|\\w+(?:\\(.*?\\))?)(?:\\.\\w+\\(.*?\\))*,\\s*(?=\")",
          Pattern.DOTALL);

  private static final Pattern MESSAGE_OF_LINE =
      Pattern.compile("^\\s*((?:%1$s\\s*\\+?\\s*)+)".formatted(LITERAL));

  private static List<Path> mainSources() throws IOException {
    try (Stream<Path> files = Files.walk(CaseTable.project())) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> file.toString().contains("/src/main/java/"))
          .filter(file -> !file.toString().contains("/log/src/main/java/org/hghca/log/"))
          .toList();
    }
  }

  /** Each line's words, with the file that has it; calls without a literal as a whole. */
  private static Map<String, String> lines() throws IOException {
    Map<String, String> lines = new TreeMap<>();
    for (Path file : mainSources()) {
      Matcher line = LINE.matcher(Files.readString(file));
      while (line.find()) {
        String arguments = ABOUT.matcher(line.group(1)).replaceFirst("");
        Matcher message = MESSAGE_OF_LINE.matcher(arguments);
        String text = message.find() ? joined(message.group(1)) : arguments;
        lines.put(words(text), file.getFileName().toString());
      }
    }
    return lines;
  }

  private static String joined(String literals) {
    return LITERALS
        .matcher(literals)
        .results()
        .map(literal -> literal.group().substring(1, literal.group().length() - 1))
        .collect(Collectors.joining());
  }

  @Test
  void linesOfTheLogAreFoundInTheSources() throws IOException {
    assertThat(lines())
        .containsEntry("cannot accept a connection", "Acceptor.java")
        .containsEntry("a process of another user is refused", "Members.java")
        .containsEntry("goes to ERR while it sends", "ErrorEntry.java")
        .containsEntry("is no address of this machine", "RDMA.java")
        .hasSizeGreaterThan(60);
  }

  @Test
  void everyLineOfTheLogIsInTheDocument() throws IOException {
    String document = Files.readString(CaseTable.project().resolve("docs/troubleshooting.md"));

    assertThat(lines().entrySet().stream().filter(line -> !document.contains(line.getKey())))
        .as("lines that the document lacks")
        .isEmpty();
  }

  /** Other calls would escape this test, say nothing of the device, and could fill a disk. */
  @Test
  void nothingElseLogs() throws IOException {
    assertThat(mainSources().stream().filter(TroubleshootingTest::hasALoggerOfItsOwn))
        .extracting(file -> file.getFileName().toString())
        .containsExactlyInAnyOrder("CommandTrace.java", "Linux.java");
  }

  private static boolean hasALoggerOfItsOwn(Path file) {
    try {
      String text = Files.readString(file);
      return text.contains("LoggerFactory") || text.contains("System.Logger");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
