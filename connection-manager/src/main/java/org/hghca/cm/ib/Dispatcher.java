package org.hghca.cm.ib;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.OptionalInt;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.ib.Requests.Addresses;
import org.hghca.cm.mad.Apr;
import org.hghca.cm.mad.Drep;
import org.hghca.cm.mad.Dreq;
import org.hghca.cm.mad.Lap;
import org.hghca.cm.mad.Mad;
import org.hghca.cm.mad.Mra;
import org.hghca.cm.mad.Rej;
import org.hghca.cm.mad.Rep;
import org.hghca.cm.mad.Req;
import org.hghca.cm.mad.Rtu;
import org.hghca.cm.mad.SidrRep;
import org.hghca.cm.mad.SidrReq;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.Gid;

/** Finds the connection that a message is for. Used under the agent's lock. */
final class Dispatcher {
  private static final ConditionLog LOG = ConditionLog.of(Dispatcher.class);

  private final MadAgent agent;
  private final Handshakes handshakes;
  private final Listeners listeners;
  private final Services services;

  Dispatcher(MadAgent agent, Handshakes handshakes, Listeners listeners, Services services) {
    this.agent = agent;
    this.handshakes = handshakes;
    this.listeners = listeners;
    this.services = services;
  }

  void received(Mad mad, Arrival from) {
    switch (mad.message()) {
      case Req req -> request(mad.transactionId(), req, from);
      case Mra mra ->
          withId(mra.remoteId(), from)
              .filter(found -> isFrom(found, mra.localId()))
              .ifPresent(found -> found.receivedMra(mra.message(), mra.serviceTimeout()));
      case Rej rej -> rejected(rej, from).ifPresent(found -> found.receivedRej(rej));
      case Rep rep -> withId(rep.remoteId(), from).ifPresent(found -> found.receivedRep(rep));
      case Rtu rtu ->
          withIds(rtu.remoteId(), rtu.localId(), from).ifPresent(found -> found.receivedRtu(rtu));
      case Dreq dreq -> disconnect(mad.transactionId(), dreq, from);
      case Drep drep ->
          withIds(drep.remoteId(), drep.localId(), from)
              .ifPresent(found -> found.receivedDrep(drep));
      case SidrReq sidrReq -> services.asked(mad.transactionId(), sidrReq, from);
      case SidrRep sidrRep -> services.answered(sidrRep, from);
      // As Linux over Ethernet, where paths are not the connection manager's.
      case Lap _, Apr _ -> LOG.debug(About.peer(from.peer()), "dropped: {}", mad);
    }
  }

  private Optional<IbHandshake> withId(int localId, Arrival from) {
    return handshakes.withId(localId).filter(found -> found.isWith(from.peer()));
  }

  private Optional<IbHandshake> withIds(int own, int peer, Arrival from) {
    return withId(own, from).filter(found -> found.remoteId() == peer);
  }

  /**
   * Whether a message is from the peer of a connection; until it has answered, its ID is unknown.
   */
  private static boolean isFrom(IbHandshake handshake, int remoteId) {
    return handshake.state() == IbHandshake.State.REQ_SENT || handshake.remoteId() == remoteId;
  }

  /** Which connection is rejected; a peer that has heard nothing knows only its own ID. */
  private Optional<IbHandshake> rejected(Rej rej, Arrival from) {
    if (rej.remoteId() != 0) {
      return withId(rej.remoteId(), from).filter(found -> isFrom(found, rej.localId()));
    }
    if (rej.reason() != Reason.TIMEOUT || rej.information().length() < Long.BYTES) {
      return Optional.empty();
    }
    long guid = ByteBuffer.wrap(rej.information().toArray()).getLong();
    return handshakes.withRequest(new RemoteEnd(from.peer(), guid, rej.localId()));
  }

  private void disconnect(long transaction, Dreq dreq, Arrival from) {
    withIds(dreq.remoteId(), dreq.localId(), from)
        .ifPresentOrElse(
            found -> found.receivedDreq(transaction, dreq),
            () -> {
              Drep drep =
                  new Drep(
                      /* localId= */ dreq.remoteId(),
                      /* remoteId= */ dreq.localId(),
                      PrivateData.EMPTY);
              agent.send(agent.encoded(new Mad(transaction, drep)), from.back());
            });
  }

  private void request(long transaction, Req req, Arrival from) {
    RemoteEnd asked = new RemoteEnd(from.peer(), req.caGuid(), req.localId());
    Optional<IbHandshake> known = handshakes.withRequest(asked);
    if (known.isPresent()) {
      if (known.get().state() == IbHandshake.State.TIMEWAIT) {
        reject(transaction, req, from, Reason.STALE, PrivateData.EMPTY);
      } else {
        known.get().receivedDuplicateReq();
      }
      return;
    }
    RemoteEnd qp = new RemoteEnd(from.peer(), req.caGuid(), req.qpNumber());
    Optional<IbHandshake> stale = handshakes.withQp(qp);
    if (stale.isPresent()) {
      reject(transaction, req, from, Reason.STALE, PrivateData.EMPTY);
      stale.get().becameStale();
      return;
    }
    if (!listeners.hasService(req.serviceId())) {
      reject(transaction, req, from, Reason.SERVICE_ID, PrivateData.EMPTY);
      return;
    }
    OptionalInt index = agent.indexOf(req.primary().remoteGid());
    if (index.isEmpty()) {
      reject(transaction, req, from, Reason.GID, bytes(from.own()));
    } else if (!Requests.isKnownTransport(req)) {
      reject(transaction, req, from, Reason.TRANSPORT, PrivateData.EMPTY);
    } else if (!Requests.isKnownMtu(req)) {
      reject(transaction, req, from, Reason.MTU, PrivateData.EMPTY);
    } else {
      begin(transaction, req, from, index.getAsInt());
    }
  }

  private void begin(long transaction, Req req, Arrival from, int index) {
    Optional<Addresses> addresses =
        Requests.addresses(
            req.serviceId(),
            req.primary().localGid(),
            req.primary().remoteGid(),
            req.privateData(),
            from);
    Optional<Listeners.Entry> listener =
        addresses.flatMap(both -> listeners.at(req.serviceId(), both.local().getAddress()));
    if (listener.isEmpty()) {
      reject(transaction, req, from, Reason.CONSUMER, PrivateData.EMPTY);
      return;
    }
    if (handshakes.isFullFor(from.peer())) {
      LOG.debug(About.peer(from.peer()), "dropped: too many requests are pending");
      return;
    }
    ConnectRequest request =
        Requests.toRequest(req, addresses.orElseThrow(), index, agent::indexOf);
    PassiveHandshake handshake = new PassiveHandshake(agent, handshakes, transaction, req, request);
    handshake.remote(req.localId(), new RemoteEnd(from.peer(), req.caGuid(), req.qpNumber()));
    handshake.remoteRequest(new RemoteEnd(from.peer(), req.caGuid(), req.localId()));
    handshakes.add(handshake);
    agent.deliver(
        () -> isListening(listener.get(), handshake),
        () -> offer(listener.get(), handshake, request));
  }

  /** Whether the listener is still open. */
  private boolean isListening(Listeners.Entry listener, PassiveHandshake handshake) {
    if (handshake.state() == IbHandshake.State.IDLE) {
      return false;
    }
    if (!listeners.isOpen(listener)) {
      handshake.refuse(Reason.SERVICE_ID);
      return false;
    }
    return true;
  }

  private void offer(Listeners.Entry listener, PassiveHandshake handshake, ConnectRequest request) {
    Optional<HandshakeEvents> events;
    try {
      events = listener.listener().requested(handshake, request);
    } catch (RuntimeException e) {
      handshake.close();
      throw e;
    }
    agent.lockedThenWake(() -> events.ifPresentOrElse(handshake::events, handshake::forget));
  }

  private static PrivateData bytes(Gid gid) {
    return PrivateData.of(
        ByteBuffer.allocate(16).putLong(gid.subnetPrefix()).putLong(gid.interfaceId()).array());
  }

  /** Refuses a request of which nothing is kept. */
  private void reject(
      long transaction, Req req, Arrival from, int reason, PrivateData information) {
    Rej rej = new Rej(0, req.localId(), Reason.OF_REQ, reason, information, PrivateData.EMPTY);
    agent.send(agent.encoded(new Mad(transaction, rej)), from.back());
  }
}
