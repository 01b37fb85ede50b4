package org.hghca.programs.rdmacm;

import java.util.Optional;
import org.hghca.cm.CmId;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;

/** An identifier of ucmatose, udaddy or mckey, and its queue pair. */
final class Participant {
  private final CmId id;
  private Optional<Node> node = Optional.empty();
  private boolean connected;

  Participant(CmId id) {
    this.id = id;
  }

  CmId id() {
    return id;
  }

  Node node() {
    return node.orElseThrow();
  }

  /** Whether messages can be sent: it is connected, or has joined its group. */
  boolean isConnected() {
    return connected;
  }

  void connected(boolean now) {
    connected = now;
  }

  /**
   * Makes the queue pair.
   *
   * @param receives whether all receives are posted, as a peer that finds none may give up
   * @throws FailedException when the device has no room for it
   */
  void prepare(QpType type, Messages messages, boolean receives) {
    try {
      Node made =
          new Node(type, id.context().allocateProtectionDomain(), messages, id::createQueuePair);
      node = Optional.of(made);
      if (receives) {
        made.postReceives();
      }
    } catch (VerbsException e) {
      throw new FailedException(-1, "unable to create QP: " + e.getMessage());
    }
  }

  void close() {
    node.ifPresent(Node::close);
    id.close();
  }
}
