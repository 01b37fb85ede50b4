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

  private RdmaOptions with(Consumer<Values> change) {
    Values changed = values.copy();
    change.accept(changed);
    return new RdmaOptions(changed);
  }

  /** The devices to choose from. */
  public RdmaOptions withDevices(CmDevices devices) {
    return with(changed -> changed.devices = Objects.requireNonNull(devices));
  }

  /** The device to use, which the program has open. */
  public RdmaOptions withDevice(Context context) {
    return withDevices(CmDevices.of(context));
  }

  /** The address to connect from; without it, that which leads to the peer. */
  public RdmaOptions withLocalAddress(InetSocketAddress address) {
    return with(changed -> changed.local = Optional.of(address));
  }

  /** How long to wait for the peer: for the whole of connecting, or of accepting. */
  public RdmaOptions withTimeout(Duration timeout) {
    if (timeout.isNegative() || timeout.isZero()) {
      throw new VerbsException(Errno.EINVAL, "a time limit must be above zero, not " + timeout);
    }
    return with(changed -> changed.timeout = timeout);
  }

  /** Outstanding send and receive requests; each has a completion queue of that size. */
  public RdmaOptions withDepths(int send, int receive) {
    return with(
        changed -> {
          changed.sendDepth = send;
          changed.receiveDepth = receive;
        });
  }

  /** Bytes that a send request can carry in itself. */
  public RdmaOptions withMaxInline(int bytes) {
    return with(changed -> changed.maxInline = bytes);
  }

  /** Requests that wait at a server, at most. */
  public RdmaOptions withBacklog(int requests) {
    return with(changed -> changed.backlog = requests);
  }

  /** Private data, READs and atomics, retries. */
  public RdmaOptions withParameters(ConnectionParameters parameters) {
    return with(changed -> changed.parameters = Objects.requireNonNull(parameters));
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
    return with(changed -> changed.own = Optional.of(new Own(domain, config)));
  }

  /** The carrier; both ends must use the same. */
  public RdmaOptions withCarrier(CarrierKind kind) {
    return with(changed -> changed.carrier = Optional.of(kind));
  }

  /**
   * What to do with a connection before the peer can send: post receives, so that its first message
   * finds one. If the connection fails, what was made in its own protection domain is closed with
   * it; what was made in one of the program's stays.
   */
  public RdmaOptions withPrepare(Consumer<RdmaConnection> prepare) {
    return with(changed -> changed.prepare = Objects.requireNonNull(prepare));
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
