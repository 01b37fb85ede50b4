package org.hghca.cm;

import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Route;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.verbs.DeviceAttributes;
import org.hghca.verbs.DeviceQuirk;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpType;
import org.hghca.verbs.QueuePair;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WrapMemory;

/**
 * What an end asks of its peer, and what it answers: the contents of REQ, REP and SIDR_REQ from the
 * parameters of the program, the limits of the device and the queue pair. Stateless.
 */
final class Negotiation {
  /** Private data that fits a REQ, a REP and a REJ, in bytes. */
  static final int MAX_REQUEST_DATA = 56;

  static final int MAX_REPLY_DATA = 196;
  static final int MAX_REJECT_DATA = 148;

  /** Private data that fits a SIDR_REQ and a SIDR_REP, in bytes. */
  static final int MAX_SERVICE_REQUEST_DATA = 180;

  static final int MAX_SERVICE_REPLY_DATA = 136;

  private static final int PSNS = 1 << 24;
  private static final int LOW_PSNS = 1 << 16;

  private Negotiation() {}

  /**
   * The request for a connection.
   *
   * @param queuePair without it its number is that of the parameters
   * @throws VerbsException EINVAL when the parameters exceed the device or the message
   */
  static ConnectRequest request(
      DeviceAttributes device,
      Route route,
      Optional<QueuePair> queuePair,
      ConnectionParameters parameters) {
    requireFits(parameters.data(), MAX_REQUEST_DATA);
    return new ConnectRequest(
        route.serviceId(),
        route.local(),
        route.remote(),
        route.path(),
        Optional.empty(),
        queuePair.isPresent() ? queuePair.get().type() : QpType.RC,
        number(queuePair, parameters),
        hasSharedReceives(queuePair, parameters),
        psn(device),
        served(device, parameters),
        outstanding(device, parameters),
        parameters.retryCount(),
        parameters.rnrRetryCount(),
        parameters.flowControl(),
        route.path().ackTimeout(device.localAckDelay()),
        parameters.data(),
        wrapMemory(queuePair, parameters));
  }

  /**
   * The answer to a request.
   *
   * @param startingPsn from which the peer sends; 24 bits
   * @throws VerbsException EINVAL when the parameters exceed the device or the message
   */
  static ConnectReply reply(
      DeviceAttributes device,
      ConnectRequest request,
      Optional<QueuePair> queuePair,
      ConnectionParameters parameters,
      int startingPsn) {
    requireFits(parameters.data(), MAX_REPLY_DATA);
    return new ConnectReply(
        request.path(),
        number(queuePair, parameters),
        hasSharedReceives(queuePair, parameters),
        startingPsn,
        Math.min(served(device, parameters), request.initiatorDepth()),
        Math.min(outstanding(device, parameters), request.responderResources()),
        parameters.rnrRetryCount(),
        parameters.flowControl(),
        device.localAckDelay(),
        parameters.data(),
        wrapMemory(queuePair, parameters));
  }

  /**
   * The question for a UD queue pair.
   *
   * @throws VerbsException EINVAL when the private data exceeds the message
   */
  static ServiceRequest question(Route route, ConnectionParameters parameters) {
    requireFits(parameters.data(), MAX_SERVICE_REQUEST_DATA);
    return new ServiceRequest(
        route.serviceId(), route.local(), route.remote(), route.path(), parameters.data());
  }

  /** The number of a queue pair, or that of the parameters. */
  static int number(Optional<QueuePair> queuePair, ConnectionParameters parameters) {
    return queuePair.isPresent() ? queuePair.get().number() : parameters.qpNumber();
  }

  /** What a queue pair offers, or what the parameters offer for that of the program. */
  private static Optional<WrapMemory> wrapMemory(
      Optional<QueuePair> queuePair, ConnectionParameters parameters) {
    return queuePair.isPresent() ? queuePair.get().offerWrapMemory() : parameters.wrapMemory();
  }

  private static boolean hasSharedReceives(
      Optional<QueuePair> queuePair, ConnectionParameters parameters) {
    return queuePair.isPresent()
        ? queuePair.get().sharedReceiveQueue().isPresent()
        : parameters.sharedReceiveQueue();
  }

  private static int served(DeviceAttributes device, ConnectionParameters parameters) {
    return limited(
        "responder resources", parameters.responderResources(), device.maxQpReadAtomic());
  }

  private static int outstanding(DeviceAttributes device, ConnectionParameters parameters) {
    return limited(
        "initiator depth", parameters.initiatorDepth(), device.maxQpInitiatorReadAtomic());
  }

  private static int limited(String what, int asked, int most) {
    if (asked == ConnectionParameters.MAXIMUM) {
      return Math.min(most, ConnectionParameters.MAXIMUM);
    }
    if (asked > most) {
      throw new VerbsException(
          Errno.EINVAL, "%s of %d: the device has %d".formatted(what, asked, most));
    }
    return asked;
  }

  /** A random starting PSN, 24 bits; fewer for a device whose PSNs must not wrap. */
  static int psn(DeviceAttributes device) {
    boolean low = device.has(DeviceQuirk.NO_PSN_WRAP);
    return ThreadLocalRandom.current().nextInt(low ? LOW_PSNS : PSNS);
  }

  /**
   * Whether private data fits a message.
   *
   * @throws VerbsException EINVAL when it does not
   */
  static void requireFits(PrivateData data, int most) {
    if (data.length() > most) {
      throw new VerbsException(
          Errno.EINVAL, "%d bytes of private data: %d fit".formatted(data.length(), most));
    }
  }
}
