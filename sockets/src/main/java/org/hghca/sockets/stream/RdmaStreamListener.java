package org.hghca.sockets.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.hghca.cm.CmEvent;
import org.hghca.cm.CmEventType;
import org.hghca.cm.CmId;

/**
 * A listener by the connection manager. Peers are answered as they come, as long as the backlog has
 * room; those that come then wait without an answer.
 */
final class RdmaStreamListener implements StreamListener, CmHandler {
  /** As of the JDK's server sockets. */
  private static final int USUAL_BACKLOG = 50;

  private final StreamResources resources;
  private final CmId id;
  private final int backlog;
  private final StreamOptions options;
  private final Deque<RdmaStream> established = new ArrayDeque<>();
  private final Deque<PassiveConnect> unanswered = new ArrayDeque<>();

  /** Peers that were answered, and have not confirmed. */
  private int answered;

  private InetSocketAddress address;
  private Runnable watcher;
  private boolean woken;
  private boolean failed;
  private boolean closed;

  RdmaStreamListener(StreamResources resources, CmId id, int backlog, StreamOptions options) {
    this.resources = resources;
    this.id = id;
    this.backlog = backlog > 0 ? backlog : USUAL_BACKLOG;
    this.options = options;
  }

  /**
   * Begins.
   *
   * @throws org.hghca.verbs.VerbsException when the address is taken
   */
  void begin(InetSocketAddress local) {
    id.bind(local);
    address = id.localAddress();
    id.listen(0);
  }

  @Override
  public void happened(CmEvent event) {
    if (event.type() == CmEventType.CONNECT_REQUEST) {
      requested(new PassiveConnect(resources, this, event.id(), event.privateData()), event.id());
    } else if (event.type() == CmEventType.DEVICE_REMOVAL) {
      Runnable told;
      synchronized (this) {
        failed = true;
        told = watcher;
        notifyAll();
      }
      tell(told);
    }
  }

  private void requested(PassiveConnect request, CmId child) {
    boolean answers;
    synchronized (this) {
      if (closed) {
        resources.close(child);
        return;
      }
      resources.handle(child, request);
      answers = enter();
      if (!answers) {
        unanswered.add(request);
      }
    }
    if (answers) {
      answer(request);
    }
  }

  private boolean enter() {
    if (established.size() + answered >= backlog) {
      return false;
    }
    answered++;
    return true;
  }

  private void answer(PassiveConnect request) {
    if (!request.answer(options)) {
      lost(request, true);
    }
  }

  /** A peer is connected. */
  void established(RdmaStream stream) {
    Runnable told;
    resources.accepted(); // before the program can know
    synchronized (this) {
      answered--;
      if (closed) {
        stream.close();
        return;
      }
      established.add(stream);
      told = watcher;
      notifyAll();
    }
    tell(told);
  }

  private static void tell(Runnable told) {
    if (told != null) {
      told.run();
    }
  }

  /** A peer has given up, or was refused. */
  void lost(PassiveConnect request, boolean wasAnswered) {
    synchronized (this) {
      if (!wasAnswered) {
        unanswered.remove(request);
        return;
      }
      answered--;
    }
    answerNext();
  }

  /** Answers a peer for which there is room now. */
  private void answerNext() {
    PassiveConnect next;
    synchronized (this) {
      if (unanswered.isEmpty() || closed || !enter()) {
        return;
      }
      next = unanswered.poll();
    }
    Thread.startVirtualThread(() -> answer(next));
  }

  @Override
  public ByteStream accept() throws IOException {
    RdmaStream stream;
    synchronized (this) {
      requireOpen();
      stream = established.poll();
    }
    if (stream != null) {
      answerNext();
    }
    return stream;
  }

  private void requireOpen() throws SocketException {
    if (closed) {
      throw new SocketException("Socket closed");
    }
    if (failed && established.isEmpty()) {
      throw new SocketException("the RDMA device has failed");
    }
  }

  @Override
  public synchronized boolean await(long deadlineNanos) throws IOException {
    try {
      while (established.isEmpty() && !woken) {
        requireOpen();
        long left = Moments.left(deadlineNanos);
        if (left <= 0) {
          return false;
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    woken = false;
    return true;
  }

  @Override
  public synchronized void wakeup() {
    woken = true;
    notifyAll();
  }

  @Override
  public synchronized void watch(Runnable onChange) {
    watcher = onChange;
  }

  @Override
  public InetSocketAddress localAddress() {
    return address;
  }

  @Override
  public void close() {
    Deque<RdmaStream> streams;
    Deque<PassiveConnect> requests;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      streams = new ArrayDeque<>(established);
      requests = new ArrayDeque<>(unanswered);
      established.clear();
      unanswered.clear();
      notifyAll();
    }
    resources.close(id);
    requests.forEach(PassiveConnect::abandon);
    streams.forEach(RdmaStream::close);
  }

  @Override
  public void abandon() {
    close();
  }

  @Override
  public String toString() {
    return "listener " + address;
  }
}
