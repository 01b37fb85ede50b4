package org.hghca.conformance.rtl;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * The random programs of {@code vectors/random_transfers.txt}, whose first lines describe the
 * format.
 */
final class RandomTransfers {
  private static final String FILE = "/vectors/random_transfers.txt";
  private static final long LOCAL = 0x7f00_0000_0000L;
  private static final long REMOTE = 0x7e00_0000_0000L;
  private static final int LOCAL_KEY = 0x20;
  private static final int REMOTE_KEY = 0x21;
  private static final int QPN = 2;
  private static final int UNIT = 16;
  private static final long SEND_SLOT = 128;
  private static final long RECEIVE_SLOT = 64;

  private RandomTransfers() {}

  /** A part of a region. */
  record Piece(int offset, int length) {
    static Piece of(String text) {
      String[] parts = text.split(":");
      return new Piece(Integer.parseInt(parts[0], 16), Integer.parseInt(parts[1]));
    }
  }

  /**
   * A request of QP 2.
   *
   * @param remote address in the peer's region that it writes or reads
   * @param gather source of its data, or the target of a READ
   * @param receive target of the data in the peer's receive; empty for a request without a receive
   */
  record Request(char kind, int remote, List<Piece> gather, List<Piece> receive) {
    static Request of(String line) {
      String[] words = line.split(" ");
      int mark = Arrays.asList(words).indexOf(">");
      int end = mark < 0 ? words.length : mark;
      List<Piece> gather = pieces(words, 2, end);
      // A receive for immediate data uses one byte of memory that is never written.
      List<Piece> receive =
          mark >= 0
              ? pieces(words, mark + 1, words.length)
              : words[0].equals("X") ? List.of(new Piece(0, 1)) : List.of();
      return new Request(words[0].charAt(0), Integer.parseInt(words[1], 16), gather, receive);
    }

    private static List<Piece> pieces(String[] words, int from, int to) {
      return Arrays.stream(words, from, to).map(Piece::of).toList();
    }

    private int opcode() {
      return switch (kind) {
        case 'S' -> 0x0a;
        case 'W' -> 0x08;
        case 'X' -> 0x09;
        default -> 0x10;
      };
    }

    private int units() {
      return 1 + (kind == 'S' ? 0 : 1) + gather.size();
    }

    String sendWqe() {
      ByteBuffer wqe = ByteBuffer.allocate(units() * UNIT).order(ByteOrder.LITTLE_ENDIAN);
      wqe.putLong(0).putInt(0).putInt(kind == 'X' ? 0x0102_0304 : 0);
      if (kind != 'S') {
        wqe.putLong(REMOTE + remote).putInt(REMOTE_KEY).putInt(0);
      }
      return hex(wqe, gather, LOCAL, LOCAL_KEY);
    }

    String receiveWqe() {
      ByteBuffer wqe = ByteBuffer.allocate((int) RECEIVE_SLOT).order(ByteOrder.LITTLE_ENDIAN);
      wqe.putLong(1).putLong(0);
      return hex(wqe, receive, REMOTE, REMOTE_KEY);
    }

    private static String hex(ByteBuffer wqe, List<Piece> pieces, long base, int key) {
      for (Piece piece : pieces) {
        wqe.putInt(piece.length()).putInt(key).putLong(base + piece.offset());
      }
      byte[] bytes = new byte[wqe.capacity()];
      wqe.get(0, bytes);
      return HexFormat.of().formatHex(bytes);
    }

    /** The doorbell of the request in a slot of the send queue. */
    long doorbell(int slot) {
      long offset = slot * SEND_SLOT / UNIT;
      return (long) (QPN << 8 | units()) << 32 | offset << 8 | opcode();
    }
  }

  /**
   * A program and its recorded results.
   *
   * @param together whether all doorbells were rung at once, instead of each after the request
   *     before it completed
   * @param seen by the first character of its line
   */
  record Program(
      String name, boolean together, int mtu, List<Request> requests, Map<Character, String> seen) {

    /** Writes all its requests and receives into the queues. */
    void post(TransferBench bench) {
      int receives = 0;
      for (int i = 0; i < requests.size(); i++) {
        Request request = requests.get(i);
        bench.put(TransferBench.QUEUE_PAGES[0] + i * SEND_SLOT, request.sendWqe());
        if (!request.receive().isEmpty()) {
          bench.put(TransferBench.QUEUE_PAGES[3] + receives++ * RECEIVE_SLOT, request.receiveWqe());
        }
      }
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static List<Program> load() {
    List<Program> programs = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                RandomTransfers.class.getResourceAsStream(FILE), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        char kind = line.charAt(0);
        if (kind == 'P') {
          String[] words = line.split(" ");
          programs.add(
              new Program(
                  line,
                  words[2].equals("together"),
                  Integer.parseInt(words[4]),
                  new ArrayList<>(),
                  new HashMap<>()));
        } else if (Character.isUpperCase(kind)) {
          programs.getLast().requests().add(Request.of(line));
        } else if (kind != '#') {
          programs.getLast().seen().put(kind, line.substring(1).strip());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(FILE, e);
    }
    return programs;
  }
}
