package org.hghca.sockets;

import java.io.IOException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;

/** Exceptions of channels as a {@link java.net.Socket} throws them. */
final class SocketErrors {
  private SocketErrors() {}

  /** An action on a channel. */
  interface Action<T> {
    T run() throws IOException;
  }

  static <T> T translated(Action<T> action) throws IOException {
    try {
      return action.run();
    } catch (UnresolvedAddressException e) {
      throw withCause(new UnknownHostException("the address is not resolved"), e);
    } catch (UnsupportedAddressTypeException e) {
      throw new IllegalArgumentException("Unsupported address type", e);
    } catch (ClosedChannelException
        | NotYetConnectedException
        | AlreadyBoundException
        | AlreadyConnectedException
        | ConnectionPendingException
        | NotYetBoundException e) {
      throw withCause(new SocketException(message(e)), e);
    }
  }

  /** The same for methods that throw no other kind. */
  static <T> T socketException(Action<T> action) throws SocketException {
    try {
      return translated(action);
    } catch (SocketException e) {
      throw e;
    } catch (IOException e) {
      throw withCause(new SocketException(e.getMessage()), e);
    }
  }

  private static String message(Exception e) {
    return switch (e) {
      case ClosedChannelException _ -> "Socket is closed";
      case NotYetConnectedException _ -> "Socket is not connected";
      case AlreadyBoundException _ -> "Already bound";
      case AlreadyConnectedException _ -> "Already connected";
      case ConnectionPendingException _ -> "Connection in progress";
      case NotYetBoundException _ -> "Socket is not bound yet";
      default -> e.toString();
    };
  }

  private static <E extends Exception> E withCause(E exception, Exception cause) {
    exception.initCause(cause);
    return exception;
  }
}
