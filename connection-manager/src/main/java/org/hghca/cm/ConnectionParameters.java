package org.hghca.cm;

import java.util.Objects;
import java.util.Optional;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WrapMemory;

/**
 * What an end asks of a connection: {@code rdma_conn_param}. Immutable: each {@code with} returns a
 * changed copy, and throws {@link VerbsException} EINVAL for a value out of its range.
 */
public final class ConnectionParameters {
  /** As many READs and atomics as the device, or the peer, allows. */
  public static final int MAXIMUM = 0xff;

  /** No private data, the most READs and atomics, 7 retries of each kind. */
  public static final ConnectionParameters DEFAULT = new ConnectionParameters(new Values());

  private final Values values;

  private ConnectionParameters(Values values) {
    this.values = values;
  }

  /** Modified only before the parameters are published. */
  private static final class Values implements Cloneable {
    private PrivateData privateData = PrivateData.EMPTY;
    private int responderResources = MAXIMUM;
    private int initiatorDepth = MAXIMUM;
    private boolean flowControl;
    private int retryCount = 7;
    private int rnrRetryCount = 7;
    private boolean sharedReceiveQueue;
    private int qpNumber;
    private Optional<WrapMemory> wrapMemory = Optional.empty();

    Values copy() {
      try {
        return (Values) clone();
      } catch (CloneNotSupportedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private static int check(String what, int value, int bits) {
    if (value >>> bits != 0) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s must be between 0 and %d, not %d".formatted(what, (1 << bits) - 1, value));
    }
    return value;
  }

  /** Bytes for the other program; how many fit depends on the message. */
  public ConnectionParameters withPrivateData(byte[] bytes) {
    return withPrivateData(PrivateData.of(bytes));
  }

  ConnectionParameters withPrivateData(PrivateData data) {
    Values changed = values.copy();
    changed.privateData = data;
    return new ConnectionParameters(changed);
  }

  /** READs and atomics that this end serves at a time: 8 bits, or {@link #MAXIMUM}. */
  public ConnectionParameters withResponderResources(int count) {
    Values changed = values.copy();
    changed.responderResources = check("responder resources", count, 8);
    return new ConnectionParameters(changed);
  }

  /** READs and atomics that this end has outstanding: 8 bits, or {@link #MAXIMUM}. */
  public ConnectionParameters withInitiatorDepth(int count) {
    Values changed = values.copy();
    changed.initiatorDepth = check("initiator depth", count, 8);
    return new ConnectionParameters(changed);
  }

  /** Whether this end gives credits. */
  public ConnectionParameters withFlowControl(boolean on) {
    Values changed = values.copy();
    changed.flowControl = on;
    return new ConnectionParameters(changed);
  }

  /** Retries after a time-out, 0 to 7. The active end says it for both. */
  public ConnectionParameters withRetryCount(int count) {
    Values changed = values.copy();
    changed.retryCount = check("retry count", count, 3);
    return new ConnectionParameters(changed);
  }

  /** Retries of the peer when this end has no receive posted, 0 to 6; 7 is infinite. */
  public ConnectionParameters withRnrRetryCount(int count) {
    Values changed = values.copy();
    changed.rnrRetryCount = check("RNR retry count", count, 3);
    return new ConnectionParameters(changed);
  }

  /** The queue pair of an identifier that has none of its own: 24 bits. */
  public ConnectionParameters withQueuePair(int qpNumber, boolean sharedReceiveQueue) {
    Values changed = values.copy();
    changed.qpNumber = check("queue pair number", qpNumber, 24);
    changed.sharedReceiveQueue = sharedReceiveQueue;
    return new ConnectionParameters(changed);
  }

  /**
   * What the queue pair of an identifier that has none of its own offers the peer: {@link
   * QueuePair#offerWrapMemory}. Only the TCP carrier brings it to the peer; the {@code ib} carrier
   * is for devices that need none.
   */
  public ConnectionParameters withWrapMemory(Optional<WrapMemory> offered) {
    Values changed = values.copy();
    changed.wrapMemory = Objects.requireNonNull(offered);
    return new ConnectionParameters(changed);
  }

  PrivateData data() {
    return values.privateData;
  }

  /** A copy of the private data. */
  public byte[] privateData() {
    return values.privateData.toArray();
  }

  public int responderResources() {
    return values.responderResources;
  }

  public int initiatorDepth() {
    return values.initiatorDepth;
  }

  public boolean flowControl() {
    return values.flowControl;
  }

  public int retryCount() {
    return values.retryCount;
  }

  public int rnrRetryCount() {
    return values.rnrRetryCount;
  }

  public boolean sharedReceiveQueue() {
    return values.sharedReceiveQueue;
  }

  public int qpNumber() {
    return values.qpNumber;
  }

  /**
   * The memory that is offered for the wrap of the other end's PSNs. Of what the peer asks or
   * answers: what {@link QueuePair#takeWrapMemory} takes before RTR, which the queue pair of an
   * identifier does by itself.
   */
  public Optional<WrapMemory> wrapMemory() {
    return values.wrapMemory;
  }

  @Override
  public String toString() {
    return "QP 0x%06x, serves %d and has outstanding %d READs, %d retries, %d RNR retries, %d bytes"
        .formatted(
            qpNumber(),
            responderResources(),
            initiatorDepth(),
            retryCount(),
            rnrRetryCount(),
            data().length());
  }
}
