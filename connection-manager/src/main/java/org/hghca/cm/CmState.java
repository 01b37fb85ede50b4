package org.hghca.cm;

/** Where an identifier is in its life. */
enum CmState {
  IDLE,
  BOUND,
  RESOLVING_ADDRESS,
  ADDRESS_RESOLVED,
  ROUTE_RESOLVED,
  LISTENING,
  /** A peer asks. */
  REQUESTED,
  /** The request is sent. */
  CONNECTING,
  /** The peer has accepted; this end has not confirmed. */
  RESPONDED,
  /** This end has accepted; the peer has not confirmed. */
  ACCEPTING,
  CONNECTED,
  /** This end has ended the connection; the peer has not confirmed. */
  DISCONNECTING,
  /** The peer has ended the connection; this end has not confirmed. */
  LEFT_BY_PEER,
  DISCONNECTED,
  FAILED,
  CLOSED
}
