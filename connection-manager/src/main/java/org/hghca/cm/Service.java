package org.hghca.cm;

import java.util.Optional;
import org.hghca.cm.carrier.Carrier;
import org.hghca.cm.carrier.Path;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Registration;
import org.hghca.cm.carrier.ServiceEvents;
import org.hghca.cm.carrier.ServiceHandshake;
import org.hghca.cm.carrier.ServiceReply;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** The question of an identifier for a UD queue pair, or a peer's. */
final class Service implements ServiceEvents, End {
  static final int MAX_REQUEST_DATA = 180;
  static final int MAX_REPLY_DATA = 136;

  private final CmId id;
  private final CarrierKind kind;
  private final ServiceRequest request;
  private Optional<ServiceHandshake> asked = Optional.empty();
  private Optional<Registration> question = Optional.empty();

  private Service(CmId id, CarrierKind kind, ServiceRequest request) {
    this.kind = kind;
    this.id = id;
    this.request = request;
  }

  /** Asks. */
  static Service ask(CmId id, CarrierKind kind, Carrier carrier, ServiceRequest request) {
    Service service = new Service(id, kind, request);
    service.question = Optional.of(carrier.resolve(request, service));
    return service;
  }

  /** What a peer asks. */
  static Service asked(
      CmId id, CarrierKind kind, ServiceHandshake handshake, ServiceRequest request) {
    Service service = new Service(id, kind, request);
    service.asked = Optional.of(handshake);
    return service;
  }

  ServiceRequest request() {
    return request;
  }

  void accept(int qpNumber, int qkey, PrivateData data) {
    answer(ServiceReply.SUCCESS, qpNumber, qkey, data);
  }

  @Override
  public void reject(PrivateData data) {
    CmId.requireFits(data, MAX_REPLY_DATA);
    answer(ServiceReply.REJECTED, 0, 0, data);
  }

  private void answer(int status, int qpNumber, int qkey, PrivateData data) {
    asked.ifPresent(
        handshake ->
            handshake.answer(new ServiceReply(request.path(), status, qpNumber, qkey, data)));
  }

  @Override
  public void answered(ServiceReply reply) {
    synchronized (id) {
      ConnectionParameters parameters =
          ConnectionParameters.DEFAULT
              .withPrivateData(reply.privateData())
              .withQueuePair(reply.qpNumber(), false);
      if (reply.status() != ServiceReply.SUCCESS) {
        if (id.fails()) {
          id.post(
              CmEvent.failure(
                      id,
                      CmEventType.UNREACHABLE,
                      reply.status(),
                      "%s: %s".formatted(request.remote(), Refusals.status(reply.status())))
                  .with(parameters));
        }
      } else if (id.moves(CmState.CONNECTING, CmState.CONNECTED)) {
        Path path = reply.path();
        id.post(
            CmEvent.of(id, CmEventType.ESTABLISHED)
                .with(parameters)
                .with(new DatagramParameters(path.vector(), reply.qpNumber(), reply.qkey())));
      }
    }
  }

  @Override
  public void unreachable(String tried) {
    synchronized (id) {
      if (id.fails()) {
        id.post(
            CmEvent.failure(
                id, CmEventType.UNREACHABLE, -Errno.ETIMEDOUT.number(), kind.unreachable(tried)));
      }
    }
  }

  @Override
  public void failed(VerbsException cause) {
    synchronized (id) {
      if (id.fails()) {
        id.post(
            CmEvent.failure(
                id, CmEventType.UNREACHABLE, -cause.errno().number(), cause.getMessage()));
      }
    }
  }

  @Override
  public void close() {
    asked.ifPresent(ServiceHandshake::close);
    question.ifPresent(Registration::close);
  }
}
