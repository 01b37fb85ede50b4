package org.hghca.virtio.abi.roce;

/**
 * The indices of the virtqueues of a device with RoCE: pairs of receive and transmit queues, the
 * control queue, the CQs, and a send and a receive queue for each queue pair. The RFC numbers
 * queues from 1; the numbers here begin with 0, as CQNs and QPNs do.
 *
 * @param pairs pairs of receive and transmit queues: 1 unless MQ or RSS was negotiated, then the
 *     largest number of the configuration
 * @param cqs CQs of the device, 1 to {@link Dialect#MOST_QUEUES}
 * @param qps queue pairs of the device, 1 to {@link Dialect#MOST_QUEUES}
 */
public record QueuePlan(int pairs, int cqs, int qps) {
  /** The largest number that the register of the number of queues holds. */
  private static final int MOST = 0xffff;

  /**
   * Checks that the device can have that many.
   *
   * @throws IllegalArgumentException if a number is out of range, or there are more queues than
   *     65535
   */
  public QueuePlan {
    if (pairs < 1 || pairs > 0x8000) {
      throw new IllegalArgumentException("a device has 1 to 32768 pairs of queues, not " + pairs);
    }
    check("CQs", cqs);
    check("QPs", qps);
    if (2 * pairs + 1 + cqs + 2 * qps > MOST) {
      throw new IllegalArgumentException(
          "%d pairs, %d CQs and %d QPs need more than %d queues".formatted(pairs, cqs, qps, MOST));
    }
  }

  private static void check(String what, int number) {
    if (number < 1 || number > Dialect.MOST_QUEUES) {
      throw new IllegalArgumentException(
          "a device has 1 to %d %s, not %d".formatted(Dialect.MOST_QUEUES, what, number));
    }
  }

  /** The receive queue of a pair, from 0. */
  public static int receive(int pair) {
    return 2 * pair;
  }

  /** The transmit queue of a pair, from 0. */
  public static int transmit(int pair) {
    return 2 * pair + 1;
  }

  /** The control queue. */
  public int control() {
    return 2 * pairs;
  }

  /** The queue of a CQ. */
  public int completion(int cqn) {
    return control() + 1 + cqn;
  }

  /** The send queue of a queue pair. */
  public int send(int qpn) {
    return control() + 1 + cqs + 2 * qpn;
  }

  /** The receive queue of a queue pair. */
  public int receiveOf(int qpn) {
    return send(qpn) + 1;
  }

  /** Number of queues. */
  public int queues() {
    return control() + 1 + cqs + 2 * qps;
  }
}
