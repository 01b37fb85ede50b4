package org.hghca.sockets.stream;

import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketException;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** The exceptions of the JDK's sockets, with their texts, for what the connection manager says. */
final class ConnectFailures {
  private ConnectFailures() {}

  /** Of a verb that failed. */
  static SocketException of(VerbsException failure) {
    SocketException told = of(failure.errno(), failure.getMessage());
    var _ = told.initCause(failure);
    return told;
  }

  /** Of an event in the place of the one that was waited for. */
  static SocketException of(CmEvent event) {
    if (event.type() == CmEventType.REJECTED) {
      return of(Errno.ECONNREFUSED, event.message());
    }
    for (Errno errno : Errno.values()) {
      if (errno.number() == -event.status()) {
        return of(errno, event.message());
      }
    }
    return new SocketException(event.message());
  }

  private static SocketException of(Errno errno, String message) {
    return switch (errno) {
      case ECONNREFUSED -> new ConnectException("Connection refused");
      case ETIMEDOUT -> new ConnectException("Connection timed out");
      case EHOSTUNREACH -> new NoRouteToHostException("No route to host");
      case ENETUNREACH -> new ConnectException("Network is unreachable");
      case EADDRINUSE -> new BindException("Address already in use");
      case EADDRNOTAVAIL, ENODEV -> new BindException("Cannot assign requested address");
      case EACCES -> new BindException("Permission denied");
      case ECONNRESET -> new SocketException("Connection reset");
      default -> new SocketException(message);
    };
  }
}
