package org.hghca.tools.demo;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.hghca.programs.peer.PeerException;

/**
 * A TCP connection to the process of the other side. Both send lines of text, at most {@value
 * #MAX_LINE} bytes of UTF-8 without control characters:
 *
 * <pre>
 * hghca-demo VERSION   the greeting: the first line of each side
 * at POINT             the sender is at a barrier
 * value NAME=TEXT      a value
 * failed REASON        the last line of a side that failed
 * </pre>
 *
 * One thread at a time; {@link #close} may come from any other.
 */
final class TcpRendezvous implements Rendezvous, AutoCloseable {
  static final int MAX_LINE = 4096;

  private static final int VERSION = 1;
  private static final String MAGIC = "hghca-demo ";
  private static final Pattern GREETING = Pattern.compile(MAGIC + "(\\d{1,9})");
  private static final String AT = "at ";
  private static final String VALUE = "value ";
  private static final String FAILED = "failed ";
  private static final Duration STEP = Duration.ofSeconds(20);
  private static final int QUOTED = 60;
  private static final int REASON = 1000;

  private final SocketChannel channel;
  private final String peer;
  private final byte[] received = new byte[MAX_LINE];
  private int next;
  private int end;
  private Duration limit;

  /** Whether the other side has failed or left, so that it reads nothing more. */
  private boolean over;

  /**
   * A new connection.
   *
   * @param channel connected; {@link #close} closes it
   * @param peer name of the other side in messages
   * @param limit longest wait for a line
   */
  private TcpRendezvous(SocketChannel channel, String peer, Duration limit) {
    this.channel = channel;
    this.peer = peer;
    this.limit = limit;
  }

  /** The connection to the server or the client at the other end of a channel. */
  static TcpRendezvous of(String role, SocketChannel channel, Duration limit) throws IOException {
    String address = text((InetSocketAddress) channel.getRemoteAddress());
    return new TcpRendezvous(channel, role + " " + address, limit);
  }

  /** The longest wait for a line while the demo runs, with both devices as slow as this one. */
  static Duration limit(Side side, Plan plan) {
    return side.time().stretch(STEP).plusNanos(plan.nanos());
  }

  /** Host and port. */
  static String text(InetSocketAddress address) {
    String host = address.getAddress().getHostAddress();
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
  }

  /** Role and address of the other side. */
  String peer() {
    return peer;
  }

  /** Changes the longest wait for a line. */
  void limit(Duration limit) {
    this.limit = limit;
  }

  /** Sends the greeting. */
  void sendGreeting() {
    writeLine(MAGIC + VERSION);
  }

  /**
   * Waits for the greeting of the other side.
   *
   * @throws PeerException when there is none, or the version differs
   */
  void receiveGreeting() {
    String line = readLine(System.nanoTime() + limit.toNanos());
    Matcher greeting = GREETING.matcher(line);
    if (!greeting.matches()) {
      throw new PeerException(
          "what should be the %s is no hghca demo: it sent %s".formatted(peer, quoted(line)));
    }
    int version = Integer.parseInt(greeting.group(1));
    if (version != VERSION) {
      throw new PeerException(
          "the %s speaks version %d of the demo and this side version %d: use the same release of hghca on both"
              .formatted(peer, version, VERSION));
    }
  }

  /** Whether the other side sends something within some time. */
  boolean hasInput(Duration wait) {
    return next < end || fill(wait.toNanos());
  }

  @Override
  public void barrier(String point) {
    writeLine(AT + point);
    String line = readLine();
    if (!line.equals(AT + point)) {
      throw outOfStep(AT + point, line);
    }
  }

  @Override
  public void send(String name, String value) {
    writeLine(VALUE + name + '=' + value);
  }

  @Override
  public String receive(String name) {
    String start = VALUE + name + '=';
    String line = readLine();
    if (!line.startsWith(start)) {
      throw outOfStep(start, line);
    }
    return line.substring(start.length());
  }

  private PeerException outOfStep(String expected, String line) {
    return new PeerException(
        "the %s is out of step: it sent %s instead of '%s'"
            .formatted(peer, quoted(line), expected));
  }

  /**
   * Sends the reason of a failure, unless the other side has failed or left, and waits until that
   * side leaves. Its own failure, if it reports one, becomes a suppressed exception of ours.
   */
  void sendFailure(RuntimeException why) {
    if (over) {
      return;
    }
    long deadline = System.nanoTime() + limit.toNanos();
    try {
      writeLine(FAILED + brief(String.valueOf(why.getMessage()), REASON));
      channel.shutdownOutput();
      String line;
      do {
        line = readLine(deadline);
      } while (!line.startsWith(FAILED));
      why.addSuppressed(report(line));
    } catch (PeerException | IOException _) {
      // It reports no failure of its own.
    }
  }

  private PeerException report(String line) {
    return new PeerException(
        "the %s reports: %s".formatted(peer, printable(line.substring(FAILED.length()))));
  }

  private void writeLine(String line) {
    try {
      ByteBuffer bytes = StandardCharsets.UTF_8.encode(line + '\n');
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    } catch (IOException e) {
      throw left(e);
    }
  }

  private String readLine() {
    String line = readLine(System.nanoTime() + limit.toNanos());
    if (!line.equals(printable(line))) {
      throw new PeerException("the %s sent %s, which is no text".formatted(peer, quoted(line)));
    }
    if (line.startsWith(FAILED)) {
      over = true;
      throw report(line);
    }
    return line;
  }

  private String readLine(long deadline) {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    while (true) {
      while (next < end) {
        byte b = received[next++];
        if (b == '\n') {
          return line.toString(StandardCharsets.UTF_8);
        }
        if (line.size() == MAX_LINE) {
          throw new PeerException(
              "the %s sent a line of more than %d bytes".formatted(peer, MAX_LINE));
        }
        line.write(b);
      }
      if (!fill(deadline - System.nanoTime())) {
        throw new PeerException("the %s sent no line for %d ms".formatted(peer, limit.toMillis()));
      }
    }
  }

  /** Reads what is there, and waits some time for it; false after that time. */
  private boolean fill(long nanos) {
    try {
      // 0 would be no limit.
      long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos));
      channel.socket().setSoTimeout((int) Math.min(millis, Integer.MAX_VALUE));
      int count = channel.socket().getInputStream().read(received);
      if (count < 0) {
        over = true;
        throw new PeerException("the %s closed the connection".formatted(peer));
      }
      next = 0;
      end = count;
      return true;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (IOException e) {
      throw left(e);
    }
  }

  private PeerException left(IOException e) {
    over = true;
    return new PeerException(
        "the connection to the %s broke: %s".formatted(peer, e.getMessage()), e);
  }

  private static String printable(String text) {
    return text.replaceAll("\\p{C}", "?");
  }

  private static String quoted(String line) {
    return "'" + brief(line, QUOTED) + "'";
  }

  /** The first characters of a text, without control characters. */
  private static String brief(String text, int length) {
    return printable(text.length() > length ? text.substring(0, length) + "..." : text);
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
