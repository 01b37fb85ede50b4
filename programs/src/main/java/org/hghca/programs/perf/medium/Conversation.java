package org.hghca.programs.perf.medium;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;
import org.hghca.programs.peer.PeerException;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.result.BandwidthReport;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WrapMemory;

/**
 * What two programs of perftest say to each other. In every exchange the client writes a message of
 * fixed length, the server reads it and writes its own. Every method throws {@link PeerException}
 * when the peer violates that. Not thread-safe.
 */
public final class Conversation {
  private static final int PAGE_BYTES = 4096;
  private static final int CACHE_LINE_BYTES = 64;
  private static final int LARGEST_BLOCK = 1 << 24;
  private static final int WRAP_MEMORY_BYTES = 16;
  private static final byte[] LAST_WORD = "done\0".getBytes(US_ASCII);

  /** The longest wait for a message before the measurement. */
  public static final Duration SOON = Duration.ofSeconds(30);

  /** The longest wait for the end of a measurement of the peer. */
  private static final Duration AT_ALL = Duration.ofDays(1);

  private static final Duration FAREWELL = Duration.ofSeconds(5);

  private final Medium medium;
  private final boolean client;

  public Conversation(Medium medium, boolean client) {
    this.medium = medium;
    this.client = client;
  }

  /** Whether this side is the client. */
  public boolean isClient() {
    return client;
  }

  /**
   * Versions.
   *
   * @throws PerfException when the peer's has another conversation
   */
  public PerfVersion exchangeVersions() throws InterruptedException {
    byte[] answer = exchange("its version", PerfVersion.OURS.toMessage());
    return PerfVersion.parse(answer)
        .orElseThrow(
            () -> PeerException.unexpected(medium.peer(), "its version of perftest", answer));
  }

  /**
   * Parameters, between two of this program.
   *
   * @param own of this side; a server has read its client's before, which are empty at a client
   */
  public Agreement exchange(Function<Optional<Agreement>, Agreement> own)
      throws InterruptedException {
    if (client) {
      medium.write(own.apply(Optional.empty()).toMessage());
      return readAgreement();
    }
    Agreement peer = readAgreement();
    medium.write(own.apply(Optional.of(peer)).toMessage());
    return peer;
  }

  private Agreement readAgreement() throws InterruptedException {
    return Agreement.parse(medium.read("its parameters", Agreement.LENGTH));
  }

  /**
   * What a queue pair of each side offers for the PSN wrap, between two of this program: rkey,
   * address and length in 4, 8 and 4 bytes, or zeros for nothing.
   */
  public Optional<WrapMemory> exchange(Optional<WrapMemory> own) throws InterruptedException {
    ByteBuffer message = ByteBuffer.allocate(WRAP_MEMORY_BYTES);
    own.ifPresent(m -> message.putInt(m.rkey()).putLong(m.address()).putInt(m.length()));
    byte[] answer = exchange("its memory for the PSN wrap", message.array());
    if (Arrays.equals(answer, new byte[WRAP_MEMORY_BYTES])) {
      return Optional.empty();
    }
    ByteBuffer peer = ByteBuffer.wrap(answer);
    try {
      return Optional.of(new WrapMemory(peer.getInt(), peer.getLong(), peer.getInt()));
    } catch (VerbsException e) {
      throw new PeerException("%s: %s".formatted(medium.peer(), e.getMessage()), e);
    }
  }

  /**
   * How buffers are used in turn: the larger of both values each.
   *
   * @param block bytes in which messages of at most half of it follow each other
   * @param cacheLine bytes between the starts of small messages at least
   */
  public record Layout(int block, int cacheLine) {}

  /** Page sizes and cache lines. */
  public Layout exchangeLayouts() throws InterruptedException {
    return new Layout(
        larger("its page size", PAGE_BYTES), larger("its cache line size", CACHE_LINE_BYTES));
  }

  private int larger(String what, int own) throws InterruptedException {
    byte[] answer = exchange(what, ByteBuffer.allocate(Integer.BYTES).putInt(own).array());
    int other = ByteBuffer.wrap(answer).getInt();
    if (other < 1 || other > LARGEST_BLOCK || Integer.bitCount(other) != 1) {
      throw new PeerException(
          "%s sent %d as %s: expected a power of two up to 2^24"
              .formatted(medium.peer(), other, what));
    }
    return Math.max(own, other);
  }

  /** The smaller MTU. */
  public Mtu exchangeMtus(Mtu own) throws InterruptedException {
    byte[] answer = exchange("its MTU", new byte[] {(byte) ('0' + own.code()), 0});
    int code = answer[0] - '0';
    if (answer[1] != 0 || code < Mtu.MTU_256.code() || code > Mtu.MTU_4096.code()) {
      throw PeerException.unexpected(medium.peer(), "an MTU from 1 to 5", answer);
    }
    // From here on the peer prepares its memory, and measures.
    medium.limit(AT_ALL);
    return Mtu.of(Math.min(code, own.code()));
  }

  /**
   * Queue pairs.
   *
   * @throws PerfException when only one side uses GIDs
   */
  public PeerAddress exchange(PeerAddress own) throws InterruptedException {
    PeerAddress peer = exchangeAny(own);
    if (peer.equals(PeerAddress.NONE)) {
      throw new PerfException("the peer has -R: give it here, too");
    }
    if (peer.gid().isPresent() != own.gid().isPresent()) {
      throw new PerfException(
          own.gid().isPresent()
              ? "the peer uses no GID, which Ethernet needs: give it -x"
              : "the peer uses a GID: give -x here, too");
    }
    return peer;
  }

  /**
   * Waits until the peer is at the same point, too, before and after the queue pairs are connected
   * by the connection manager: addresses are exchanged, which nobody has yet.
   *
   * @throws PerfException when the peer connects its queue pairs otherwise
   */
  public void meetUnconnected() throws InterruptedException {
    if (!exchangeAny(PeerAddress.NONE).equals(PeerAddress.NONE)) {
      throw new PerfException("the peer lacks -R, which is given here");
    }
  }

  private PeerAddress exchangeAny(PeerAddress own) throws InterruptedException {
    if (client) {
      medium.writeAddress(own);
      return medium.readAddress();
    }
    PeerAddress peer = medium.readAddress();
    medium.writeAddress(own);
    return peer;
  }

  /** Figures. */
  public BandwidthReport exchange(BandwidthReport own) throws InterruptedException {
    byte[][] messages = own.toMessages();
    byte[][] answers = new byte[messages.length][];
    for (int i = 0; i < messages.length; i++) {
      answers[i] = exchange("its figures", messages[i]);
    }
    return BandwidthReport.parse(answers);
  }

  private byte[] exchange(String what, byte[] own) throws InterruptedException {
    if (client) {
      medium.write(own);
      return medium.read(what, own.length);
    }
    byte[] answer = medium.read(what, own.length);
    medium.write(own);
    return answer;
  }

  /** Waits until the peer has ended too, where perftest has no exchange for that. */
  public void leave() throws InterruptedException {
    try {
      medium.limit(FAREWELL);
      medium.write(LAST_WORD);
      byte[] _ = medium.read("its end", LAST_WORD.length);
    } catch (PeerException _) {
      // perftest has ended, which is all that is wanted.
    }
  }
}
