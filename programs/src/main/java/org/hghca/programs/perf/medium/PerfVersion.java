package org.hghca.programs.perf.medium;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hghca.programs.perf.PerfException;

/**
 * The first message of either side, 16 bytes: its version of perftest, a zero, and more zeros. Ours
 * has {@code hghca} in its last bytes, which perftest ignores.
 *
 * @param text such as 6.27
 * @param ours whether it is this program, which exchanges its parameters too
 */
public record PerfVersion(String text, boolean ours) {
  static final int LENGTH = 16;

  /** The last version without an exchange of parameters whose layout depends on the build. */
  static final PerfVersion OURS = new PerfVersion("6.27", true);

  private static final int OLDEST_MAJOR = 5;
  private static final int OLDEST_MINOR = 70;
  private static final byte[] MARK = "hghca".getBytes(US_ASCII);
  private static final Pattern NUMBERS = Pattern.compile("(\\d{1,3})\\.(\\d{1,3})");

  byte[] toMessage() {
    byte[] message = Arrays.copyOf(text.getBytes(US_ASCII), LENGTH);
    if (ours) {
      System.arraycopy(MARK, 0, message, LENGTH - MARK.length, MARK.length);
    }
    return message;
  }

  /**
   * Reads a message.
   *
   * @return empty when it holds no version
   * @throws PerfException when its conversation is another
   */
  static Optional<PerfVersion> parse(byte[] message) {
    int end = 0;
    while (end < message.length && message[end] != 0) {
      end++;
    }
    String text = new String(message, 0, end, US_ASCII);
    Matcher numbers = NUMBERS.matcher(text);
    if (!numbers.matches()) {
      return Optional.empty();
    }
    int major = Integer.parseInt(numbers.group(1));
    int minor = Integer.parseInt(numbers.group(2));
    if (major < OLDEST_MAJOR || major == OLDEST_MAJOR && minor < OLDEST_MINOR) {
      throw new PerfException(
          "the peer is perftest %s, whose conversation differs from that of %s, which this is;"
                  .formatted(text, OURS.text)
              + " it must be 5.70 or newer");
    }
    byte[] tail = Arrays.copyOfRange(message, LENGTH - MARK.length, LENGTH);
    boolean ours = end <= LENGTH - MARK.length && Arrays.equals(tail, MARK);
    return Optional.of(new PerfVersion(text, ours));
  }
}
