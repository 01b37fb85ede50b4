package org.hghca.cm;

import java.util.Optional;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * What happened to an identifier: the contents of its event.
 *
 * @param status 0, a negative error number, or the code of the peer's refusal
 * @param message what the status means, and what was tried; empty for success
 * @param parameters those of the peer
 * @param datagram where datagrams go, once that is known
 */
record Report(
    CmEventType type,
    int status,
    String message,
    ConnectionParameters parameters,
    Optional<DatagramParameters> datagram) {

  static Report of(CmEventType type) {
    return failure(type, 0, "");
  }

  static Report failure(CmEventType type, int status, String message) {
    return new Report(type, status, message, ConnectionParameters.DEFAULT, Optional.empty());
  }

  /** A failed verb. */
  static Report failure(CmEventType type, VerbsException cause) {
    return failure(type, -cause.errno().number(), cause.getMessage());
  }

  Report with(ConnectionParameters changed) {
    return new Report(type, status, message, changed, datagram);
  }

  Report with(DatagramParameters destination) {
    return new Report(type, status, message, parameters, Optional.of(destination));
  }

  Report as(CmEventType changed) {
    return new Report(changed, status, message, parameters, datagram);
  }

  /** The failure that it reports: ECONNREFUSED for a refusal, else that of the status. */
  VerbsException failure() {
    Errno errno = type == CmEventType.REJECTED ? Errno.ECONNREFUSED : Errno.EIO;
    for (Errno known : Errno.values()) {
      if (known.number() == -status) {
        errno = known;
      }
    }
    return new VerbsException(errno, "%s: %s".formatted(type.symbol(), message));
  }

  @Override
  public String toString() {
    return message.isEmpty()
        ? type.symbol()
        : "%s, status %d: %s".formatted(type.symbol(), status, message);
  }
}
