package org.hghca.cm;

import java.util.Optional;
import org.hghca.cm.carrier.Path;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Refusals;
import org.hghca.cm.carrier.Registration;
import org.hghca.cm.carrier.ServiceEvents;
import org.hghca.cm.carrier.ServiceHandshake;
import org.hghca.cm.carrier.ServiceReply;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.cm.device.SharedDevice;
import org.hghca.verbs.Context;
import org.hghca.verbs.VerbsException;

/**
 * The service ID resolution (SIDR) of an identifier: its question for a UD queue pair, or a peer's,
 * and the answer. All under the monitor of the {@link Lifecycle}.
 */
final class Service implements ServiceEvents, End {
  private final Lifecycle life;
  private final IdQueuePair queuePair;
  private final CarrierKind kind;
  private final ServiceRequest request;
  private Optional<ServiceHandshake> inquiry = Optional.empty();
  private Optional<Registration> question = Optional.empty();

  private Service(Lifecycle life, IdQueuePair queuePair, CarrierKind kind, ServiceRequest request) {
    this.life = life;
    this.queuePair = queuePair;
    this.kind = kind;
    this.request = request;
  }

  /** Asks. */
  static Service ask(
      Lifecycle life,
      IdQueuePair queuePair,
      Addressing addressing,
      ConnectionParameters parameters) {
    ServiceRequest request = Negotiation.question(addressing.route(), parameters);
    SharedDevice device = addressing.device();
    Service service = new Service(life, queuePair, addressing.kind(device), request);
    synchronized (life) {
      service.question = Optional.of(addressing.carrier(device).resolve(request, service));
      life.to(CmState.CONNECTING);
    }
    return service;
  }

  /** What a peer asks. */
  static Service passive(
      Lifecycle life,
      IdQueuePair queuePair,
      CarrierKind kind,
      ServiceHandshake handshake,
      ServiceRequest request) {
    Service service = new Service(life, queuePair, kind, request);
    service.inquiry = Optional.of(handshake);
    return service;
  }

  /** Answers with a queue pair. */
  @Override
  public void accept(Context context, ConnectionParameters parameters) {
    int qpNumber = Negotiation.number(queuePair.get(), parameters);
    Negotiation.requireFits(parameters.data(), Negotiation.MAX_SERVICE_REPLY_DATA);
    answer(ServiceReply.SUCCESS, qpNumber, DatagramParameters.UDP_QKEY, parameters.data());
    life.to(CmState.CONNECTED);
  }

  @Override
  public void reject(PrivateData data) {
    Negotiation.requireFits(data, Negotiation.MAX_SERVICE_REPLY_DATA);
    answer(ServiceReply.REJECTED, 0, 0, data);
    life.to(CmState.FAILED);
  }

  private void answer(int status, int qpNumber, int qkey, PrivateData data) {
    inquiry.ifPresent(
        handshake ->
            handshake.answer(new ServiceReply(request.path(), status, qpNumber, qkey, data)));
  }

  @Override
  public void answered(ServiceReply reply) {
    synchronized (life) {
      ConnectionParameters parameters =
          ConnectionParameters.DEFAULT
              .withPrivateData(reply.privateData())
              .withQueuePair(reply.qpNumber(), false);
      if (reply.status() != ServiceReply.SUCCESS) {
        String message = "%s: %s".formatted(request.remote(), Refusals.status(reply.status()));
        life.fails(
            Report.failure(CmEventType.UNREACHABLE, reply.status(), message).with(parameters));
      } else if (life.moves(CmState.CONNECTING, CmState.CONNECTED)) {
        Path path = reply.path();
        life.post(
            Report.of(CmEventType.ESTABLISHED)
                .with(parameters)
                .with(new DatagramParameters(path.vector(), reply.qpNumber(), reply.qkey())));
      }
    }
  }

  @Override
  public void unreachable(String tried) {
    life.unreachable(kind.unreachable(tried));
  }

  @Override
  public void failed(VerbsException cause) {
    life.fails(Report.failure(CmEventType.UNREACHABLE, cause));
  }

  @Override
  public void close() {
    inquiry.ifPresent(ServiceHandshake::close);
    question.ifPresent(Registration::close);
  }
}
