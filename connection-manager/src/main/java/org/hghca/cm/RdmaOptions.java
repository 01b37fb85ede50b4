package org.hghca.cm;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.hghca.verbs.Context;
import org.hghca.verbs.Errno;
import org.hghca.verbs.ProtectionDomain;
import org.hghca.verbs.QueuePairConfig;
import org.hghca.verbs.VerbsException;

/**
 * Options of {@link RdmaConnection} and {@link RdmaServer}. Immutable: each {@code with} copies.
 */
public final class RdmaOptions {
  /**
   * The devices of this machine, 10 s for the whole of connecting or of accepting, 128 requests in
   * each direction, one element and no inline data, {@link ConnectionParameters#DEFAULT}.
   */
  public static final RdmaOptions DEFAULT = new RdmaOptions(new Values());

  private final Values values;

  private RdmaOptions(Values values) {
    this.values = values;
  }

  /** A protection domain of the program's, and a queue pair in it. */
  record Own(ProtectionDomain domain, QueuePairConfig config) {}

  /** Modified only before the options are published. */
  private static final class Values implements Cloneable {
    private CmDevices devices = CmDevices.system();
    private Optional<InetSocketAddress> local = Optional.empty();
    private Duration timeout = Duration.ofSeconds(10);
    private int sendDepth = 128;
    private int receiveDepth = 128;
    private int maxInline;
    private int backlog = CmId.MAX_BACKLOG;
    private ConnectionParameters parameters = ConnectionParameters.DEFAULT;
    private Optional<Own> own = Optional.empty();
    private Optional<CarrierKind> carrier = Optional.empty();
    private Consumer<RdmaConnection> prepare = connection -> {};

    Values copy() {
      try {
        return (Values) clone();
      } catch (CloneNotSupportedException e) {
        throw new AssertionError(e);
      }
    }
  }

  /** The devices to choose from. */
  public RdmaOptions withDevices(CmDevices devices) {
    Values changed = values.copy();
    changed.devices = Objects.requireNonNull(devices);
    return new RdmaOptions(changed);
  }

  /** The device to use, which the program has open. */
  public RdmaOptions withDevice(Context context) {
    return withDevices(CmDevices.of(context));
  }

  /** The address to connect from; without it, that which leads to the peer. */
  public RdmaOptions withLocalAddress(InetSocketAddress address) {
    Values changed = values.copy();
    changed.local = Optional.of(address);
    return new RdmaOptions(changed);
  }

  /** How long to wait for the peer: for the whole of connecting, or of accepting. */
  public RdmaOptions withTimeout(Duration timeout) {
    if (timeout.isNegative() || timeout.isZero()) {
      throw new VerbsException(Errno.EINVAL, "a time limit must be above zero, not " + timeout);
    }
    Values changed = values.copy();
    changed.timeout = timeout;
    return new RdmaOptions(changed);
  }

  /** Outstanding send and receive requests; each has a completion queue of that size. */
  public RdmaOptions withDepths(int send, int receive) {
    Values changed = values.copy();
    changed.sendDepth = send;
    changed.receiveDepth = receive;
    return new RdmaOptions(changed);
  }

  /** Bytes that a send request can carry in itself. */
  public RdmaOptions withMaxInline(int bytes) {
    Values changed = values.copy();
    changed.maxInline = bytes;
    return new RdmaOptions(changed);
  }

  /** Requests that wait at a server, at most. */
  public RdmaOptions withBacklog(int requests) {
    Values changed = values.copy();
    changed.backlog = requests;
    return new RdmaOptions(changed);
  }

  /** Private data, READs and atomics, retries. */
  public RdmaOptions withParameters(ConnectionParameters parameters) {
    Values changed = values.copy();
    changed.parameters = Objects.requireNonNull(parameters);
    return new RdmaOptions(changed);
  }

  /** Bytes for the other program: 56 when connecting, 196 when accepting. */
  public RdmaOptions withPrivateData(byte[] bytes) {
    return withParameters(values.parameters.withPrivateData(bytes));
  }

  /**
   * A queue pair as the program wants it: its own protection domain, completion queues, shared
   * receive queue, depths. They stay open when the connection is closed.
   */
  public RdmaOptions withQueuePair(ProtectionDomain domain, QueuePairConfig config) {
    Values changed = values.copy();
    changed.own = Optional.of(new Own(domain, config));
    return new RdmaOptions(changed);
  }

  /** The carrier; both ends must use the same. */
  public RdmaOptions withCarrier(CarrierKind kind) {
    Values changed = values.copy();
    changed.carrier = Optional.of(kind);
    return new RdmaOptions(changed);
  }

  /**
   * What to do with a connection before the peer can send: post receives, so that its first message
   * finds one. If the connection fails, what was made in its own protection domain is closed with
   * it; what was made in one of the program's stays.
   */
  public RdmaOptions withPrepare(Consumer<RdmaConnection> prepare) {
    Values changed = values.copy();
    changed.prepare = Objects.requireNonNull(prepare);
    return new RdmaOptions(changed);
  }

  CmDevices devices() {
    return values.devices;
  }

  Optional<InetSocketAddress> local() {
    return values.local;
  }

  Duration timeout() {
    return values.timeout;
  }

  int sendDepth() {
    return values.sendDepth;
  }

  int receiveDepth() {
    return values.receiveDepth;
  }

  int maxInline() {
    return values.maxInline;
  }

  int backlog() {
    return values.backlog;
  }

  ConnectionParameters parameters() {
    return values.parameters;
  }

  Optional<Own> own() {
    return values.own;
  }

  Optional<CarrierKind> carrier() {
    return values.carrier;
  }

  Consumer<RdmaConnection> prepare() {
    return values.prepare;
  }
}
