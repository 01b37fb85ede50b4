package org.hghca.cm.carrier;

/**
 * One end of a connection, from its request to the end of its time wait. Thread-safe; no call waits
 * for the peer.
 *
 * <p>A call in a state in which it has no meaning throws {@code VerbsException} with EINVAL, which
 * names the state, but for {@link #close}.
 */
public interface Handshake extends AutoCloseable {

  /** Accepts, at the passive end: REP. The queue pair can receive before this call. */
  void reply(ConnectReply reply);

  /**
   * Refuses, at either end: REJ.
   *
   * @param reason the code, 28 for the application's own
   */
  void reject(int reason, PrivateData privateData);

  /**
   * Confirms the reply, at the active end: RTU. The queue pair can send before this call. {@link
   * HandshakeEvents#established} follows.
   */
  void confirm(PrivateData privateData);

  /**
   * Reports, at the passive end, that data of the peer has arrived, which confirms the reply as RTU
   * does.
   */
  void firstPacket();

  /**
   * Ends the connection: DREQ, or DREP where the peer has asked. {@link
   * HandshakeEvents#disconnected} follows unless it came before; then {@link
   * HandshakeEvents#timeWaitExited}.
   */
  void disconnect(PrivateData privateData);

  /**
   * Forgets the connection, and tells the peer as the state requires. No event begins after this
   * call. Idempotent.
   */
  @Override
  void close();
}
