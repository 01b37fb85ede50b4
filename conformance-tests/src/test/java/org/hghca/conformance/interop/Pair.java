package org.hghca.conformance.interop;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpEndpoint;
import org.hghca.verbs.QpType;

/** A connection between the software HCA and the guest. */
final class Pair implements AutoCloseable {
  /**
   * 4.096 us x 2^18, about a second: an emulated processor that is not scheduled causes no
   * time-out.
   */
  static final int LONG_TIMEOUT = 18;

  private final OurEnd ours;
  private final GuestEnd guests;

  private Pair(OurEnd ours, GuestEnd guests) {
    this.ours = ours;
    this.guests = guests;
  }

  /**
   * Connects.
   *
   * @param bytes of the buffer of each end
   */
  static Pair connect(Bench bench, QpType type, Mtu mtu, long bytes) {
    return connect(bench, type, bytes, options -> options.withPathMtu(mtu));
  }

  /**
   * Connects with options, which apply to both ends.
   *
   * @param bytes of the buffer of each end
   */
  static Pair connect(
      Bench bench, QpType type, long bytes, UnaryOperator<ConnectionOptions> change) {
    ConnectionOptions options =
        change.apply(
            ConnectionOptions.DEFAULT
                .withGidIndex(bench.ownGidIndex())
                .withTimeout(LONG_TIMEOUT)
                .withAccess(bench.access()));
    Pair pair = new Pair(new OurEnd(bench, type, bytes), new GuestEnd(bench.guest(), type, bytes));
    pair.ours.queuePair().connect(options, local -> pair.exchange(bench, local, options));
    return pair;
  }

  private QpEndpoint exchange(Bench bench, QpEndpoint local, ConnectionOptions options) {
    List<Object> arguments = new ArrayList<>();
    Collections.addAll(arguments, "qpn", local.qpNumber(), "psn", local.psn());
    Collections.addAll(arguments, "gid", local.gid().hex(), "mtu", options.pathMtu().code());
    Collections.addAll(arguments, "outstanding", options.readAtomic());
    Collections.addAll(arguments, "min_rnr", options.minRnrTimer());
    Collections.addAll(arguments, "timeout", options.timeout(), "retry", options.retryCount());
    Collections.addAll(arguments, "rnr_retry", options.rnrRetry());
    guests.ask("connect", arguments.toArray());
    return new QpEndpoint(0, guests.qpn(), guests.psn(), bench.guestGid());
  }

  OurEnd ours() {
    return ours;
  }

  GuestEnd guests() {
    return guests;
  }

  /** The end with that role. */
  End end(Asker asker) {
    return asker == Asker.WE ? ours : guests;
  }

  /** The other end. */
  End other(Asker asker) {
    return asker == Asker.WE ? guests : ours;
  }

  @Override
  public void close() {
    guests.close();
    ours.close();
  }

  /** The end that sends requests. */
  enum Asker {
    WE("our requests"),
    GUEST("the guest's requests");

    private final String text;

    Asker(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }
}
