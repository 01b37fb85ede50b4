package org.hghca.tools.replay;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.hghca.abi.HardwareProfile;
import org.hghca.vfio.PciIds;

/** The file of a whole trace of one card. Its lines are read again for each use. Immutable. */
public final class WholeTrace {
  private static final int FORMAT = 1;
  private static final String FIX = "record the run with --trace=FILE,full";

  private final Path file;
  private final Set<String> devices = new LinkedHashSet<>();
  private final Set<String> profiles = new LinkedHashSet<>();

  /** The names of steps by the line that each has at its end. */
  private final NavigableMap<Long, String> steps = new TreeMap<>();

  private TraceLine opened;
  private long hcrBase;
  private boolean resets;
  private long end = -1;

  private WholeTrace(Path file) {
    this.file = file;
  }

  /** Takes the lines of a trace in their order. */
  interface Reader {
    /** Whether to go on. */
    boolean read(TraceLine line);
  }

  /**
   * Looks through a file.
   *
   * @throws UnplayableException when it is no whole trace of one card, or cut
   * @throws IOException when it cannot be read
   */
  public static WholeTrace open(Path file) throws IOException {
    WholeTrace trace = new WholeTrace(file);
    trace.check();
    return trace;
  }

  private void check() throws IOException {
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      checkHead(lines.readLine());
      long number = 1;
      for (String text = lines.readLine(); text != null; text = lines.readLine()) {
        number++;
        if (end >= 0) {
          throw new UnplayableException("%s goes on behind its end: %s".formatted(file, FIX));
        }
        learn(TraceLine.of(number, parse(number, text)));
      }
      if (end != number - 1) {
        throw cut();
      }
    } catch (CharacterCodingException e) {
      throw none();
    }
    checkCard();
  }

  private void checkHead(String text) {
    if (text == null) {
      throw cut();
    }
    if (text.contains("\"traceEvents\"")) {
      throw timeLine();
    }
    Map<String, Object> head;
    try {
      head = JSON.std.mapFrom(text);
    } catch (IOException e) {
      throw none();
    }
    if (!(head.get("trace") instanceof Integer format)) {
      throw none();
    }
    if (format > FORMAT) {
      throw new UnplayableException(
          "%s has format %d, and this hghca reads up to %d: replay it with the hghca that wrote it"
              .formatted(file, format, FORMAT));
    }
    if (!head.containsKey("full")) {
      throw timeLine();
    }
  }

  private UnplayableException none() {
    return new UnplayableException("%s is no trace of hghca: %s".formatted(file, FIX));
  }

  private UnplayableException timeLine() {
    return new UnplayableException(
        "%s is a time line, without the memory that a replay needs: %s".formatted(file, FIX));
  }

  private UnplayableException cut() {
    return new UnplayableException(
        "%s is cut: the program that recorded it was killed, or still runs; record it again"
            .formatted(file));
  }

  private Map<String, Object> parse(long number, String text) {
    try {
      return JSON.std.mapFrom(text);
    } catch (IOException e) {
      if (!text.endsWith("}")) {
        throw cut();
      }
      throw new UnplayableException(
          "%s is damaged in line %d: record it again".formatted(file, number));
    }
  }

  private void learn(TraceLine line) {
    if (line.values().get("end") instanceof Number lines) {
      end = lines.longValue();
      return;
    }
    devices.add(line.text("device"));
    switch (line.kind()) {
      case "card" -> {
        profiles.add(line.text("profile"));
        hcrBase = line.hex("hcr");
      }
      case "open" -> {
        opened = opened == null ? line : opened;
        if (new PciIds((int) line.hex("vendor"), (int) line.hex("device_id")).isVirtio()) {
          throw new UnplayableException(
              "%s is the trace of a virtio device: a replay plays cards".formatted(file));
        }
      }
      case "step" -> steps.put(line.number(), line.text("title"));
      case "reset-function" -> resets = true;
      case "lost" ->
          throw new UnplayableException(
              "%s is not whole: the memory of mapping %d could not be read (%s); %s"
                  .formatted(
                      file,
                      line.number("map"),
                      line.text("why"),
                      "record a run that keeps its memory until it is unmapped"));
      default -> {}
    }
  }

  private void checkCard() {
    if (devices.size() > 1) {
      throw new UnplayableException(
          "%s has %d devices (%s), and a replay plays one: record a run on one, such as demo with one -d"
              .formatted(file, devices.size(), String.join(", ", devices)));
    }
    if (profiles.isEmpty()) {
      throw new UnplayableException(
          "%s ends before the profile of its card was known: record a run that reaches the step 'profile'"
              .formatted(file));
    }
    if (profiles.size() > 1) {
      throw new UnplayableException(
          "%s has cards of profiles %s, and a replay plays one: record the runs apart"
              .formatted(file, String.join(" and ", profiles)));
    }
  }

  /** How the card was opened first. */
  TraceLine opened() {
    return opened;
  }

  /** The profile as which the recorded card was driven. */
  public HardwareProfile profile() {
    try {
      return HardwareProfile.byName(profiles.iterator().next());
    } catch (IllegalArgumentException e) {
      throw new UnplayableException("%s: %s".formatted(file, e.getMessage()));
    }
  }

  /** Where the HCR of the recorded card is in BAR0. */
  long hcrBase() {
    return hcrBase;
  }

  /** Whether the run resets the card. */
  boolean resets() {
    return resets;
  }

  /** The step of bring-up to which a line belongs; empty outside of one. */
  String step(long line) {
    Map.Entry<Long, String> next = steps.ceilingEntry(line);
    return next == null ? "" : next.getValue();
  }

  /** Reads all lines between head and end. */
  void read(Reader reader) throws IOException {
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      long number = 1;
      String text = lines.readLine();
      while (number < end) {
        text = lines.readLine();
        number++;
        if (text == null || !reader.read(TraceLine.of(number, parse(number, text)))) {
          return;
        }
      }
    }
  }
}
