package org.hghca.tools.bringup.command;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.hghca.abi.HardwareProfile;
import org.hghca.tools.bringup.board.BringupOptions;
import org.hghca.tools.bringup.board.Loop;

/** Options of a session that differ from those of {@link BringupOptions#of}. */
final class SessionOptions {
  private final BringupOptions usual;
  private Optional<HardwareProfile> profile = Optional.empty();
  private Loop loop = Loop.AUTO;
  private String peer = "";
  private boolean destructive;
  private Duration limit;
  private Duration patience;
  private Duration measure;
  private Set<String> only = Set.of();
  private Set<String> skip = Set.of();

  private SessionOptions(BringupOptions usual) {
    this.usual = usual;
    limit = usual.limit();
    patience = usual.patience();
    measure = usual.measure();
  }

  static SessionOptions of(String device) {
    return new SessionOptions(BringupOptions.of(device));
  }

  BringupOptions done() {
    return new BringupOptions(
        usual.device(),
        profile,
        loop,
        peer,
        destructive,
        limit,
        patience,
        measure,
        usual.effort(),
        only,
        skip);
  }

  SessionOptions profile(HardwareProfile known) {
    profile = Optional.of(known);
    return this;
  }

  /** Data goes to a peer and back. */
  SessionOptions peer(String locator) {
    loop = Loop.PEER;
    peer = locator;
    return this;
  }

  /** Steps with data are skipped. */
  SessionOptions withoutLoop() {
    loop = Loop.NONE;
    return this;
  }

  SessionOptions destructive() {
    destructive = true;
    return this;
  }

  /** Also the patience that goes with the limit. */
  SessionOptions limit(Duration other) {
    limit = other;
    patience = BringupOptions.patience(other);
    return this;
  }

  SessionOptions patience(Duration other) {
    patience = other;
    return this;
  }

  SessionOptions measure(Duration other) {
    measure = other;
    return this;
  }

  SessionOptions only(Set<String> steps) {
    only = steps;
    return this;
  }

  SessionOptions skip(Set<String> steps) {
    skip = steps;
    return this;
  }
}
