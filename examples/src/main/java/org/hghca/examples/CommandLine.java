package org.hghca.examples;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.hghca.cm.CarrierKind;

/**
 * What the user asks for.
 *
 * @param ends which of server and client this process runs, and where the server is
 * @param devices names or locators, at most one an end
 * @param port of the server; 0 is any free one
 * @param carrier by which programs connect that do so by address
 * @param arguments for the program itself
 */
record CommandLine(
    Ends ends, List<String> devices, int port, CarrierKind carrier, List<String> arguments) {
  /** That of the classic examples. */
  private static final int PORT = 19875;

  /** The ends that this process runs. */
  sealed interface Ends {
    /** Both, on the loopback address. */
    record Both() implements Ends {}

    /** The server; with the address to listen on, unless it is the usual one of the carrier. */
    record Server(Optional<String> bind) implements Ends {}

    /** The client of a server elsewhere. */
    record Client(String host) implements Ends {}
  }

  /** The command line is wrong; the message says how. */
  static final class UsageException extends Exception {
    private static final long serialVersionUID = 1L;

    UsageException(String message) {
      super(message);
    }
  }

  /** Reads what follows the name of a program. */
  static CommandLine parse(List<String> words) throws UsageException {
    Deque<String> rest = new ArrayDeque<>(words);
    List<String> devices = new ArrayList<>();
    List<String> arguments = new ArrayList<>();
    Ends ends = new Ends.Both();
    int port = PORT;
    CarrierKind carrier = CarrierKind.TCP;
    if ("server".equals(rest.peek())) {
      rest.remove();
      ends = new Ends.Server(Optional.empty());
    } else if ("client".equals(rest.peek())) {
      rest.remove();
      ends = new Ends.Client(next(rest, "client HOST"));
    }
    while (!rest.isEmpty()) {
      String word = rest.remove();
      switch (word) {
        case "-d" -> devices.add(next(rest, "-d DEVICE"));
        case "-p" -> port = port(next(rest, "-p PORT"));
        case "-c" -> carrier = carrier(next(rest, "-c CARRIER"));
        case "-b" -> {
          if (!(ends instanceof Ends.Server)) {
            throw new UsageException("only a server has -b ADDRESS");
          }
          ends = new Ends.Server(Optional.of(next(rest, "-b ADDRESS")));
        }
        default -> {
          if (word.startsWith("-")) {
            throw new UsageException("there is no option " + word);
          }
          arguments.add(word);
        }
      }
    }
    boolean both = ends instanceof Ends.Both;
    if (devices.size() > (both ? 2 : 1)) {
      throw new UsageException("one -d an end");
    }
    return new CommandLine(ends, devices, both ? 0 : port, carrier, arguments);
  }

  private static CarrierKind carrier(String text) throws UsageException {
    return switch (text) {
      case "ib" -> CarrierKind.IB;
      case "tcp" -> CarrierKind.TCP;
      default -> throw new UsageException("a carrier is ib or tcp, not " + text);
    };
  }

  private static String next(Deque<String> rest, String what) throws UsageException {
    if (rest.isEmpty()) {
      throw new UsageException("a word is missing: " + what);
    }
    return rest.remove();
  }

  private static int port(String text) throws UsageException {
    if (!text.matches("[0-9]{1,5}") || Integer.parseInt(text) > 65535) {
      throw new UsageException("a port is a number from 0 to 65535, not " + text);
    }
    return Integer.parseInt(text);
  }
}
