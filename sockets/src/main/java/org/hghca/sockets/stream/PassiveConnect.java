package org.hghca.sockets.stream;

import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.sockets.protocol.ConnectData;
import org.hghca.sockets.protocol.ForeignPeerException;
import org.hghca.verbs.VerbsException;

/** A peer's request to a listener. Its monitor is held while something happens to it. */
final class PassiveConnect implements CmHandler {
  private static final ConditionLog LOG = ConditionLog.of(PassiveConnect.class);

  private final StreamResources resources;
  private final RdmaStreamListener listener;
  private final CmId id;
  private final byte[] privateData;
  private Endpoint endpoint;
  private ConnectData peer;
  private boolean ended;

  PassiveConnect(
      StreamResources resources, RdmaStreamListener listener, CmId id, byte[] privateData) {
    this.resources = resources;
    this.listener = listener;
    this.id = id;
    this.privateData = privateData;
  }

  /** Answers the peer; says whether it may become a stream. */
  synchronized boolean answer(StreamOptions options) {
    if (ended) {
      return false;
    }
    try {
      peer = ConnectData.of(privateData, resources.framing());
      endpoint = new Endpoint(resources, id, options);
      id.accept(endpoint.parameters());
      return true;
    } catch (ForeignPeerException e) {
      refuse(e.getMessage());
    } catch (VerbsException e) {
      refuse(e.getMessage());
    }
    release();
    return false;
  }

  private void refuse(String why) {
    LOG.warn(
        About.device(id.context().device().name()).with(id.remoteAddress()),
        "{} refuses a peer: {}",
        listener,
        why);
  }

  @Override
  public synchronized void happened(CmEvent event) {
    if (endpoint != null && endpoint.isOpen()) {
      endpoint.stream().happened(event);
    } else if (ended) {
      LOG.debug(About.peer(id.remoteAddress()), "{}: {} after its end", id, event);
    } else if (event.type() == CmEventType.ESTABLISHED) {
      endpoint.open(peer);
      listener.established(endpoint.stream());
    } else {
      LOG.debug(About.peer(id.remoteAddress()), "{} is not connected: {}", id, event);
      boolean answered = endpoint != null;
      release();
      listener.lost(this, answered);
    }
  }

  @Override
  public synchronized void abandon() {
    if (endpoint != null && endpoint.isOpen()) {
      endpoint.stream().close();
    } else if (!ended) {
      release();
    }
  }

  private void release() {
    ended = true;
    if (endpoint != null) {
      endpoint.close();
    } else {
      resources.close(id); // refuses, if nobody has answered
    }
  }
}
