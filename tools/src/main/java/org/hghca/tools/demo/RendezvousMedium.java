package org.hghca.tools.demo;

import java.time.Duration;
import java.util.HexFormat;
import org.hghca.programs.peer.PeerException;
import org.hghca.programs.perf.medium.Medium;
import org.hghca.programs.perf.medium.PeerAddress;

/** Carries the conversation of a measurement in values of the demo, in hexadecimal. */
record RendezvousMedium(Rendezvous rendezvous) implements Medium {
  private static final String NAME = "perf";

  @Override
  public String peer() {
    return "the other side";
  }

  /** The demo has a limit of its own. */
  @Override
  public void limit(Duration limit) {}

  @Override
  public void write(byte[] message) {
    rendezvous.send(NAME, HexFormat.of().formatHex(message));
  }

  @Override
  public byte[] read(String what, int length) {
    byte[] message = read();
    if (message.length != length) {
      throw PeerException.unexpected(peer(), what, message);
    }
    return message;
  }

  private byte[] read() {
    String text = rendezvous.receive(NAME);
    try {
      return HexFormat.of().parseHex(text);
    } catch (IllegalArgumentException e) {
      throw new PeerException("the other side sent '%s', which is no message".formatted(text), e);
    }
  }

  @Override
  public void writeAddress(PeerAddress own) {
    write(own.toMessage());
  }

  @Override
  public PeerAddress readAddress() {
    byte[] message = read();
    try {
      return PeerAddress.parse(message);
    } catch (IllegalArgumentException _) {
      throw PeerException.unexpected(peer(), "the address of a queue pair", message);
    }
  }

  @Override
  public void close() {}
}
