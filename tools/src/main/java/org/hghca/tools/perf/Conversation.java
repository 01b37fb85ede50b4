package org.hghca.tools.perf;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import org.hghca.tools.peer.PeerException;
import org.hghca.tools.peer.SideChannel;
import org.hghca.verbs.Mtu;

/**
 * What two programs of perftest say to each other. In every exchange the client writes a message of
 * fixed length, the server reads it and writes its own. Every method throws {@link PeerException}
 * when the peer violates that. Not thread-safe.
 */
final class Conversation implements AutoCloseable {
  private static final int PAGE_BYTES = 4096;
  private static final int CACHE_LINE_BYTES = 64;
  private static final int LARGEST_BLOCK = 1 << 24;
  private static final byte[] LAST_WORD = "done\0".getBytes(US_ASCII);

  /** The longest wait for a message before the measurement. */
  private static final Duration SOON = Duration.ofSeconds(30);

  /** The longest wait for the end of a measurement of the peer. */
  private static final Duration AT_ALL = Duration.ofDays(1);

  private static final Duration FAREWELL = Duration.ofSeconds(5);

  private final SideChannel channel;
  private final boolean client;

  private Conversation(SideChannel channel, boolean client) {
    this.channel = channel;
    this.client = client;
  }

  /**
   * Connects to the server, or waits for a client.
   *
   * @param server its host; empty to be the server
   */
  static Conversation open(Optional<String> server, int port) throws InterruptedException {
    return server.isPresent()
        ? new Conversation(SideChannel.connect(server.get(), port, SOON), true)
        : new Conversation(SideChannel.accept(port, SOON), false);
  }

  /** Whether this side is the client. */
  boolean isClient() {
    return client;
  }

  /**
   * Versions.
   *
   * @throws PerfException when the peer's has another conversation
   */
  PerfVersion exchangeVersions() throws InterruptedException {
    byte[] answer = exchange("its version", PerfVersion.OURS.toMessage());
    return PerfVersion.parse(answer)
        .orElseThrow(() -> channel.unexpected("its version of perftest", answer));
  }

  /** Parameters, between two of this program. */
  Agreement exchange(Agreement own) throws InterruptedException {
    return Agreement.parse(exchange("its parameters", own.toMessage()));
  }

  /**
   * How buffers are used in turn: the larger of both values each.
   *
   * @param block bytes in which messages of at most half of it follow each other
   * @param cacheLine bytes between the starts of small messages at least
   */
  record Layout(int block, int cacheLine) {}

  /** Page sizes and cache lines. */
  Layout exchangeLayouts() throws InterruptedException {
    return new Layout(
        larger("its page size", PAGE_BYTES), larger("its cache line size", CACHE_LINE_BYTES));
  }

  private int larger(String what, int own) throws InterruptedException {
    byte[] answer = exchange(what, ByteBuffer.allocate(Integer.BYTES).putInt(own).array());
    int other = ByteBuffer.wrap(answer).getInt();
    if (other < 1 || other > LARGEST_BLOCK || Integer.bitCount(other) != 1) {
      throw new PeerException(
          "%s sent %d as %s: expected a power of two up to 2^24"
              .formatted(channel.peer(), other, what));
    }
    return Math.max(own, other);
  }

  /** The smaller MTU. */
  Mtu exchangeMtus(Mtu own) throws InterruptedException {
    byte[] answer = exchange("its MTU", new byte[] {(byte) ('0' + own.code()), 0});
    int code = answer[0] - '0';
    if (answer[1] != 0 || code < Mtu.MTU_256.code() || code > Mtu.MTU_4096.code()) {
      throw channel.unexpected("an MTU from 1 to 5", answer);
    }
    // From here on the peer prepares its memory, and measures.
    channel.limit(AT_ALL);
    return Mtu.of(Math.min(code, own.code()));
  }

  /**
   * Queue pairs.
   *
   * @throws PerfException when only one side uses GIDs
   */
  PeerAddress exchange(PeerAddress own) throws InterruptedException {
    byte[] message = own.toMessage();
    PeerAddress peer;
    if (client) {
      channel.write(message);
      peer = readAddress();
    } else {
      peer = readAddress();
      channel.write(message);
    }
    if (peer.gid().isPresent() != own.gid().isPresent()) {
      throw new PerfException(
          own.gid().isPresent()
              ? "the peer uses no GID, which Ethernet needs: give it -x"
              : "the peer uses a GID: give -x here, too");
    }
    return peer;
  }

  private PeerAddress readAddress() throws InterruptedException {
    byte[] message = channel.read("its address", PeerAddress.LENGTH);
    if (message[PeerAddress.LENGTH - 1] != 0) {
      int more = PeerAddress.LENGTH_WITH_GID - PeerAddress.LENGTH;
      byte[] rest = channel.read("the rest of its address", more);
      message = Arrays.copyOf(message, PeerAddress.LENGTH_WITH_GID);
      System.arraycopy(rest, 0, message, PeerAddress.LENGTH, more);
    }
    try {
      return PeerAddress.parse(message);
    } catch (IllegalArgumentException _) {
      throw channel.unexpected("the address of a queue pair", message);
    }
  }

  /** Figures. */
  BandwidthReport exchange(BandwidthReport own) throws InterruptedException {
    byte[][] messages = own.toMessages();
    byte[][] answers = new byte[messages.length][];
    for (int i = 0; i < messages.length; i++) {
      answers[i] = exchange("its figures", messages[i]);
    }
    return BandwidthReport.parse(answers);
  }

  private byte[] exchange(String what, byte[] own) throws InterruptedException {
    if (client) {
      channel.write(own);
      return channel.read(what, own.length);
    }
    byte[] answer = channel.read(what, own.length);
    channel.write(own);
    return answer;
  }

  /** Waits until the peer has ended too, where perftest has no exchange for that. */
  void leave() throws InterruptedException {
    try {
      channel.limit(FAREWELL);
      channel.write(LAST_WORD);
      byte[] _ = channel.read("its end", LAST_WORD.length);
    } catch (PeerException _) {
      // perftest has ended, which is all that is wanted.
    }
  }

  @Override
  public void close() {
    channel.close();
  }
}
