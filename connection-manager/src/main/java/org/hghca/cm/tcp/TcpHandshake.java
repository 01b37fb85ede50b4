package org.hghca.cm.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.hghca.cm.carrier.ConnectReply;
import org.hghca.cm.carrier.ConnectRequest;
import org.hghca.cm.carrier.Handshake;
import org.hghca.cm.carrier.HandshakeEvents;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/**
 * One end of a connection over a socket of its own, which stays open as the sign of life: its end
 * is the connection's. A thread reads the socket from the request to the end.
 */
final class TcpHandshake implements Handshake {
  private static final ConditionLog LOG = ConditionLog.of(TcpHandshake.class);

  /** Codes of REJ. */
  static final int TIMED_OUT = 4;

  static final int UNSUPPORTED = 5;

  static final int NO_LISTENER = 8;
  static final int CONSUMER = 28;
  static final int OTHER_VERSION = 31;

  /** The longest time wait, 4.096 us * 2^19 = 2.1 s. */
  private static final int LONGEST_TIME_WAIT = 19;

  private static final long ACK_UNIT_NANOS = 4096;

  private enum State {
    /** The active end has no answer yet, or the passive end has not answered. */
    REQUESTED,
    REPLIED,
    ESTABLISHED,
    /** This end has asked to disconnect, and the peer has not answered. */
    LEAVING,
    /** The peer has disconnected, and this end has not answered. */
    LEFT_BY_PEER,
    TIME_WAIT,
    /** Over, or never begun. */
    ENDED
  }

  private final TcpCarrier carrier;
  private final ConnectRequest request;
  private final boolean active;
  private final SerialCalls calls;
  private HandshakeEvents events;
  private Link link;

  /** Of the active end: whether the socket is connected. */
  private boolean connected;

  private State state = State.REQUESTED;

  private TcpHandshake(TcpCarrier carrier, ConnectRequest request, boolean active) {
    this.carrier = carrier;
    this.request = request;
    this.active = active;
    this.calls = new SerialCalls(!active);
    carrier.began(this);
  }

  /** The active end; {@link #run} asks. */
  static TcpHandshake active(TcpCarrier carrier, ConnectRequest request, HandshakeEvents events) {
    TcpHandshake handshake = new TcpHandshake(carrier, request, true);
    handshake.events = events;
    return handshake;
  }

  /** The passive end of a request that was read from a link. */
  static TcpHandshake passive(TcpCarrier carrier, ConnectRequest request, Link link) {
    TcpHandshake handshake = new TcpHandshake(carrier, request, false);
    handshake.link = link;
    return handshake;
  }

  /** Connects, asks, and reads until the end; on a thread of its own. */
  void run() {
    try {
      Link opened = new Link(carrier, SocketChannel.open());
      if (!use(opened)) {
        opened.close(); // closed before it began
        return;
      }
      opened.deadline(carrier.limits().connect());
      opened.connect(request.local().getAddress(), request.remote());
      connected(opened);
      opened.write(Bodies.of(request));
      read(opened);
    } catch (ConnectException e) {
      LOG.debug(About.peer(request.remote()), "no listener on the port", e);
      reject(
          isRefused(e) ? NO_LISTENER : 0,
          PrivateData.EMPTY,
          "connected to %s by TCP: %s".formatted(request.remote(), e.getMessage()));
    } catch (IOException | VerbsException e) {
      reject(0, PrivateData.EMPTY, attempt(e));
    }
  }

  private synchronized void connected(Link opened) {
    connected = true;
    opened.deadline(carrier.limits().answer());
  }

  private static boolean isRefused(ConnectException e) {
    return e.getMessage() != null && e.getMessage().contains("refused");
  }

  private synchronized boolean use(Link opened) {
    link = opened;
    return state == State.REQUESTED;
  }

  /** Whether it has no answer. */
  synchronized boolean isRequested() {
    return state == State.REQUESTED;
  }

  /** Reads, at the passive end, until the end. */
  void follow(HandshakeEvents taker) {
    Link accepted;
    synchronized (this) {
      events = taker;
      accepted = link;
    }
    calls.release();
    read(accepted);
  }

  private void read(Link from) {
    try {
      boolean more = true;
      while (more) {
        more = take(from.read());
      }
    } catch (IOException e) {
      ended(e);
    }
  }

  /** Handles a message; says whether more may follow. */
  private synchronized boolean take(Message message) throws IOException {
    switch (message.kind()) {
      case REPLY -> {
        if (!active || state != State.REQUESTED) {
          throw unexpected(message);
        }
        ConnectReply reply = Bodies.reply(message.body(), carrier.context(), request.path());
        link.noDeadline();
        state = State.REPLIED;
        calls.add(() -> events.replied(reply));
      }
      case READY -> {
        if (active || state != State.REPLIED && state != State.ESTABLISHED) {
          throw unexpected(message);
        }
        establish();
      }
      case REJECT -> {
        int reason = Bodies.reason(message.body());
        PrivateData data = Bodies.privateData(message.body());
        if (state == State.REQUESTED || state == State.REPLIED) {
          reject(reason, data, "");
        } else {
          left(PrivateData.EMPTY);
        }
        return false;
      }
      case DISCONNECT -> {
        if (state != State.ESTABLISHED && state != State.LEAVING) {
          throw unexpected(message);
        }
        left(Bodies.privateData(message.body()));
      }
      case REQUEST, SERVICE_REQUEST, SERVICE_REPLY -> throw unexpected(message);
    }
    return true;
  }

  private MalformedException unexpected(Message message) {
    return new MalformedException("%s in state %s".formatted(message.kind(), state));
  }

  /** The socket has ended, or the peer has broken the protocol. */
  private synchronized void ended(IOException cause) {
    switch (state) {
      case REQUESTED, REPLIED -> {
        if (cause instanceof VersionException) {
          LOG.warn(
              About.peer(request.remote()),
              "the peer speaks another version: {}",
              cause.getMessage());
          reject(OTHER_VERSION, PrivateData.EMPTY, "");
        } else if (cause instanceof UnusableOfferException) {
          link.write(Message.reject(UNSUPPORTED, PrivateData.EMPTY));
          reject(0, PrivateData.EMPTY, attempt(cause));
        } else if (link.isExpired() || cause instanceof MalformedException || isUnanswered()) {
          reject(0, PrivateData.EMPTY, attempt(cause));
        } else {
          reject(TIMED_OUT, PrivateData.EMPTY, "");
        }
      }
      case ESTABLISHED, LEAVING -> left(PrivateData.EMPTY);
      default -> {
        // nothing is expected any more
      }
    }
    link.close();
  }

  /** Whether the active end waits for the first answer. */
  private boolean isUnanswered() {
    return active && state == State.REQUESTED;
  }

  private synchronized String attempt(Exception cause) {
    if (link != null && link.isExpired()) {
      if (!active) {
        return "answered %s by TCP: no confirmation within %d s"
            .formatted(request.remote(), carrier.limits().confirmation().toSeconds());
      }
      return connected
          ? "asked %s by TCP: no answer within %d s"
              .formatted(request.remote(), carrier.limits().answer().toSeconds())
          : "asked %s by TCP: no connection within %d s"
              .formatted(request.remote(), carrier.limits().connect().toSeconds());
    }
    String what = cause instanceof EOFException ? "it closed the socket" : cause.getMessage();
    return "asked %s by TCP: %s".formatted(request.remote(), what);
  }

  /** Ends what is not established: by a refusal, or for reason 0 because nobody can be reached. */
  private synchronized void reject(int reason, PrivateData data, String tried) {
    if (state != State.REQUESTED && state != State.REPLIED) {
      return;
    }
    end();
    calls.add(
        () -> {
          if (reason == 0) {
            events.unreachable(tried);
          } else {
            events.rejected(reason, data);
          }
        });
  }

  private void end() {
    state = State.ENDED;
    if (link != null) {
      link.close();
    }
  }

  private void establish() {
    link.noDeadline();
    if (state == State.REPLIED) {
      state = State.ESTABLISHED;
      calls.add(() -> events.established());
    }
  }

  /** The peer has disconnected. */
  private void left(PrivateData data) {
    if (state == State.ESTABLISHED) {
      state = State.LEFT_BY_PEER;
      calls.add(() -> events.disconnected(data));
    } else if (state == State.LEAVING) {
      calls.add(() -> events.disconnected(data));
      waitOut();
    }
  }

  private void waitOut() {
    state = State.TIME_WAIT;
    link.close();
    long nanos = ACK_UNIT_NANOS << Math.min(request.ackTimeout(), LONGEST_TIME_WAIT);
    var _ = carrier.after(Duration.ofNanos(nanos), this::exitTimeWait);
  }

  private synchronized void exitTimeWait() {
    if (state == State.TIME_WAIT) {
      state = State.ENDED;
      calls.add(() -> events.timeWaitExited());
    }
  }

  private void require(boolean possible, String what) {
    if (!possible) {
      throw new VerbsException(
          Errno.EINVAL,
          "cannot %s the connection with %s: its %s end is %s"
              .formatted(what, request.remote(), active ? "active" : "passive", state));
    }
  }

  @Override
  public synchronized void reply(ConnectReply reply) {
    require(!active && state == State.REQUESTED, "accept");
    state = State.REPLIED;
    link.deadline(carrier.limits().confirmation());
    link.write(Bodies.of(reply));
  }

  @Override
  public synchronized void reject(int reason, PrivateData privateData) {
    require(state == (active ? State.REPLIED : State.REQUESTED), "reject");
    link.write(Message.reject(reason, privateData));
    end();
  }

  /** Refuses a request that no listener takes, and forgets it. */
  void refuse(int reason) {
    synchronized (this) {
      if (state == State.REQUESTED) {
        link.write(Message.reject(reason, PrivateData.EMPTY));
        end();
      }
    }
    close();
  }

  @Override
  public synchronized void confirm(PrivateData privateData) {
    require(active && state == State.REPLIED, "confirm");
    link.write(Message.of(Message.Kind.READY, privateData));
    establish();
  }

  @Override
  public synchronized void firstPacket() {
    require(!active && (state == State.REPLIED || state == State.ESTABLISHED), "establish");
    establish();
  }

  @Override
  public synchronized void disconnect(PrivateData privateData) {
    require(state == State.ESTABLISHED || state == State.LEFT_BY_PEER, "disconnect");
    link.write(Message.of(Message.Kind.DISCONNECT, privateData));
    if (state == State.ESTABLISHED) {
      state = State.LEAVING;
      link.deadline(carrier.limits().confirmation());
    } else {
      waitOut();
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      calls.close();
      if (link != null) {
        if (state == State.REPLIED || state == State.REQUESTED && !active) {
          link.write(Message.reject(CONSUMER, PrivateData.EMPTY));
        } else if (state == State.ESTABLISHED || state == State.LEFT_BY_PEER) {
          link.write(Message.of(Message.Kind.DISCONNECT, PrivateData.EMPTY));
        }
      }
      end();
    }
    carrier.ended(this);
  }

  @Override
  public synchronized String toString() {
    return "%s end of the connection with %s by TCP, %s"
        .formatted(active ? "active" : "passive", request.remote(), state);
  }
}
