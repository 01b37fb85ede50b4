package org.hghca.programs.pingpong;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.hghca.programs.peer.PeerException;
import org.hghca.programs.peer.SideChannel;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.VerbsException;

/**
 * The exchange of addresses over TCP. An address is {@code %04x:%06x:%06x:} of LID, number and PSN,
 * and the 32 digits of the GID, which are zeros without one, with a zero byte behind. The client
 * sends its own, then the server, which is connected by then; the client ends it by "done" with a
 * zero byte.
 *
 * <p>A queue pair that offers memory for the PSN wrap has {@code :%08x:%016x:%08x} of key, address
 * and length in front of the zero byte, which only this program understands. Devices that need it
 * have no peers but those of this program. A server sends it only to a client that has done so.
 *
 * @param addresses of each end; those beyond its queue pairs are zeros
 * @param limit longest wait for a message
 */
record AddressExchange(int addresses, Duration limit) {
  private static final int BYTES = 52;
  private static final int BYTES_WITH_MEMORY = 87;
  private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);

  /**
   * As client.
   *
   * @return the addresses of the server's queue pairs
   * @throws StepFailedException when the server cannot be reached, leaves, or sends other things
   */
  List<QpEndpoint> withServer(String host, int port, List<QpEndpoint> own)
      throws InterruptedException {
    try (SideChannel server =
        StepFailedException.talk(
            "Couldn't connect to %s:%d".formatted(host, port),
            () -> SideChannel.connect(host, port, limit))) {
      return StepFailedException.talk(
          "Couldn't read/write remote address",
          () -> {
            write(server, own);
            List<QpEndpoint> peers = read(server);
            server.write(DONE);
            return peers;
          });
    }
  }

  /**
   * As server of the first client that comes.
   *
   * @param connect connects the queue pairs with the client's
   * @return the addresses of the client's queue pairs
   * @throws StepFailedException when the port cannot be had, or the client leaves or sends other
   *     things
   */
  List<QpEndpoint> withClient(
      int port, List<QpEndpoint> own, Consumer<? super List<QpEndpoint>> connect)
      throws InterruptedException {
    try (SideChannel client =
        StepFailedException.talk(
            "Couldn't listen to port %d".formatted(port), () -> SideChannel.accept(port, limit))) {
      List<QpEndpoint> peers =
          StepFailedException.talk("Couldn't read remote address", () -> read(client));
      try {
        connect.accept(peers);
      } catch (StepFailedException e) {
        throw new StepFailedException(
            e.getMessage() + System.lineSeparator() + "Couldn't connect to remote QP",
            e.getCause());
      }
      return StepFailedException.talk(
          "Couldn't send/recv local address",
          () -> {
            write(client, offered(peers) ? own : own.stream().map(AddressExchange::plain).toList());
            byte[] end = client.read("'done'", DONE.length);
            if (!Arrays.equals(end, DONE)) {
              throw client.unexpected("'done'", end);
            }
            return peers;
          });
    }
  }

  private void write(SideChannel peer, List<QpEndpoint> own) throws InterruptedException {
    List<QpEndpoint> all = new ArrayList<>(own);
    all.addAll(Collections.nCopies(addresses - own.size(), new QpEndpoint(0, 0, 0, Gid.NONE)));
    for (QpEndpoint one : all) {
      String text = one.toText();
      peer.write(Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), text.length() + 1));
    }
  }

  private List<QpEndpoint> read(SideChannel peer) throws InterruptedException {
    List<QpEndpoint> all = new ArrayList<>();
    for (int i = 0; i < addresses; i++) {
      all.add(parse(peer, message(peer)));
    }
    return all;
  }

  /** A message with or without memory, as the byte behind the GID says. */
  private static byte[] message(SideChannel peer) throws InterruptedException {
    byte[] message = peer.read("the remote address", BYTES);
    if (message[BYTES - 1] != ':') {
      return message;
    }
    byte[] memory = peer.read("the memory of the remote address", BYTES_WITH_MEMORY - BYTES);
    byte[] whole = Arrays.copyOf(message, BYTES_WITH_MEMORY);
    System.arraycopy(memory, 0, whole, BYTES, memory.length);
    return whole;
  }

  private static boolean offered(List<QpEndpoint> addresses) {
    return addresses.stream().anyMatch(one -> one.wrapMemory().isPresent());
  }

  private static QpEndpoint plain(QpEndpoint one) {
    return new QpEndpoint(one.lid(), one.qpNumber(), one.psn(), one.gid());
  }

  private static QpEndpoint parse(SideChannel peer, byte[] message) {
    PeerException malformed = peer.unexpected("an address, lid:qpn:psn:gid", message);
    int last = message.length - 1;
    if (message[last] != 0) {
      throw malformed;
    }
    try {
      return QpEndpoint.parse(new String(message, 0, last, StandardCharsets.US_ASCII));
    } catch (VerbsException e) {
      malformed.initCause(e);
      throw malformed;
    }
  }
}
