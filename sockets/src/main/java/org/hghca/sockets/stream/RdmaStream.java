package org.hghca.sockets.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.hghca.cm.CmEvent;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.sockets.protocol.ConnectData;
import org.hghca.sockets.protocol.MessageWord;
import org.hghca.verbs.MemoryRegion;
import org.hghca.verbs.VerbsException;
import org.hghca.verbs.WcStatus;

/** A stream over a queue pair. */
final class RdmaStream implements ByteStream, MappedStream, CompletionSink {
  private static final ConditionLog LOG = ConditionLog.of(RdmaStream.class);

  /** So long a closed stream waits until its last word has arrived. */
  private static final long LINGER_SECONDS = 10;

  // What has happened to it.

  /** Both ends are connected. */
  private static final int OPEN = 1;

  /** The peer writes no more. */
  private static final int INPUT_ENDED = 1 << 1;

  /** The peer, or both ends in turn, have ended both directions. */
  private static final int DISCONNECTED = 1 << 2;

  private static final int BROKEN = 1 << 3;
  private static final int INPUT_SHUT = 1 << 4;
  private static final int OUTPUT_SHUT = 1 << 5;
  private static final int CLOSED = 1 << 6;

  private static final int READABLE = INPUT_ENDED | DISCONNECTED | BROKEN | INPUT_SHUT | CLOSED;
  private static final int UNWRITABLE = DISCONNECTED | BROKEN | OUTPUT_SHUT | CLOSED;

  private final Endpoint endpoint;
  private final Engine engine;
  private final Outgoing out;
  private final Incoming in;
  private final AtomicInteger state = new AtomicInteger();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final KeepAlive keepAlive = new KeepAlive(this::test);

  private final Waiter reader = new Waiter(this::isReadable);
  private final Waiter writer = new Waiter(this::isWritable);
  private final BooleanSupplier either = this::isEitherDone;
  private volatile Runnable watcher;

  RdmaStream(Endpoint endpoint) {
    this.endpoint = endpoint;
    this.engine = endpoint.engine();
    this.out = endpoint.out();
    this.in = endpoint.in();
  }

  /** A thread that waits for one of the directions. */
  private static final class Waiter {
    private final BooleanSupplier ready;
    private final BooleanSupplier done = this::isDone;
    private final Looks looks = new Looks();
    private final Runnable unpark = this::unpark;
    private volatile Thread thread;
    private volatile boolean woken;

    Waiter(BooleanSupplier ready) {
      this.ready = ready;
    }

    boolean isDone() {
      return woken || ready.getAsBoolean();
    }

    void wake() {
      woken = true;
      unpark();
    }

    private void unpark() {
      LockSupport.unpark(thread);
    }

    void changed() {
      Thread waiting = thread;
      if (waiting != null && !waiting.equals(Thread.currentThread()) && ready.getAsBoolean()) {
        LockSupport.unpark(waiting);
      }
    }

    void end() {
      thread = null;
      woken = false;
    }
  }

  // Connecting.

  /** The peer is known, and both ends are connected. */
  void open(ConnectData peer) {
    engine.exclusively(() -> out.open(peer));
    set(OPEN);
    try {
      out.grantFirst();
    } catch (VerbsException e) {
      broke(e.getMessage());
    }
    changed();
  }

  private boolean is(int flags) {
    return (state.get() & flags) != 0;
  }

  /** Says whether this is the first to set it. */
  private boolean set(int flag) {
    return (state.getAndUpdate(now -> now | flag) & flag) == 0;
  }

  // Bytes.

  @Override
  public int read(ByteBuffer dst) throws IOException {
    if (is(INPUT_SHUT | CLOSED)) {
      return -1;
    }
    if (in.available() == 0) {
      if (!engine.progress() && in.available() == 0) {
        return atEnd();
      }
    }
    int taken = in.read(dst);
    if (taken == 0) {
      return dst.hasRemaining() ? atEnd() : 0;
    }
    if (!is(DISCONNECTED | BROKEN)) {
      tell();
    }
    return taken;
  }

  /** What reading returns where there are no bytes. */
  private int atEnd() throws SocketException {
    int now = state.get();
    if (in.available() > 0) {
      return 0; // arrived before the end
    }
    if ((now & (INPUT_ENDED | DISCONNECTED | INPUT_SHUT | CLOSED)) != 0) {
      return -1;
    }
    if ((now & BROKEN) != 0) {
      throw new SocketException("Connection reset");
    }
    return 0;
  }

  private void tell() {
    try {
      out.granted();
    } catch (VerbsException e) {
      broke(e.getMessage()); // of which the next read tells
    }
  }

  @Override
  public int write(ByteBuffer src) throws IOException {
    requireWritable();
    try {
      int sent = out.write(src);
      if (sent == 0 && engine.progress()) {
        requireWritable();
        sent = out.write(src);
      }
      return sent;
    } catch (VerbsException e) {
      throw broken(e);
    }
  }

  @Override
  public boolean map(MemoryRegion region, int index, long offset) throws IOException {
    requireWritable();
    try {
      return out.map(region, index, offset);
    } catch (VerbsException e) {
      throw broken(e);
    }
  }

  @Override
  public int writeMapped(ByteBuffer source, long offset) throws IOException {
    requireWritable();
    try {
      return out.writeMapped(source, offset);
    } catch (VerbsException e) {
      throw broken(e);
    }
  }

  private SocketException broken(VerbsException cause) {
    broke(cause.getMessage());
    return new SocketException("Connection reset", cause);
  }

  private void requireWritable() throws IOException {
    int now = state.get();
    if ((now & UNWRITABLE) != 0) {
      if ((now & (BROKEN | DISCONNECTED | OUTPUT_SHUT)) == BROKEN) {
        throw new SocketException("Connection reset");
      }
      throw new IOException("Broken pipe");
    }
  }

  // Readiness.

  private boolean isReadable() {
    return is(READABLE) || in.available() > 0;
  }

  private boolean isWritable() {
    int now = state.get();
    return (now & UNWRITABLE) != 0 || (now & OPEN) != 0 && out.isWritable();
  }

  @Override
  public int readyOps() {
    return (isReadable() ? SelectionKey.OP_READ : 0) | (isWritable() ? SelectionKey.OP_WRITE : 0);
  }

  @Override
  public boolean progress() {
    return engine.progress();
  }

  @Override
  public boolean await(int ops, long deadlineNanos) {
    boolean reads = (ops & SelectionKey.OP_READ) != 0;
    boolean writes = (ops & SelectionKey.OP_WRITE) != 0;
    if (reads && writes) {
      return await(deadlineNanos);
    }
    Waiter waiter = reads ? reader : writer;
    waiter.thread = Thread.currentThread();
    try {
      return engine.await(waiter.done, waiter.looks, waiter.unpark, deadlineNanos);
    } finally {
      waiter.end();
    }
  }

  private boolean await(long deadlineNanos) {
    Thread self = Thread.currentThread();
    reader.thread = self;
    writer.thread = self;
    try {
      return engine.await(either, reader.looks, reader.unpark, deadlineNanos);
    } finally {
      reader.end();
      writer.end();
    }
  }

  private boolean isEitherDone() {
    return reader.isDone() || writer.isDone();
  }

  @Override
  public void wakeup() {
    reader.wake();
    writer.wake();
  }

  @Override
  public void watch(Runnable onChange) {
    watcher = onChange;
  }

  private void changed() {
    reader.changed();
    writer.changed();
    Runnable told = watcher;
    if (told != null) {
      told.run();
    }
  }

  // What completions say, one thread at a time.

  @Override
  public void received(int word, long length) {
    if (is(DISCONNECTED | BROKEN)) {
      return;
    }
    if (in.header() > 0) {
      violated("an immediate");
      return;
    }
    take(word, 0, length);
  }

  @Override
  public void receivedAt(int receive, long length) {
    if (is(DISCONNECTED | BROKEN)) {
      return;
    }
    if (in.header() == 0 || length < in.header()) {
      violated("a message without a word");
      return;
    }
    take(in.word(receive), receive, length);
  }

  private void take(int word, int receive, long length) {
    if (MessageWord.op(word) != MessageWord.DATA) {
      in.used(receive);
    }
    switch (MessageWord.op(word)) {
      case MessageWord.DATA -> {
        if (!in.arrived(receive, MessageWord.data(word), length)) {
          violated("%d bytes for which there is no room".formatted(MessageWord.data(word)));
        }
      }
      case MessageWord.GRANT -> out.allowed(MessageWord.limit(word), length > in.header());
      case MessageWord.CONTROL -> controlled(MessageWord.data(word));
      case MessageWord.IOMAP -> in.arrivedWithoutBytes();
      case MessageWord.WRITE -> {
        // of no meaning to a stream
      }
      default -> violated("the word 0x%08x".formatted(word));
    }
    changed();
  }

  private void controlled(int what) {
    if (what == MessageWord.DISCONNECT) {
      disconnected();
    } else if (what == MessageWord.SHUTDOWN) {
      set(INPUT_ENDED);
      if (is(OUTPUT_SHUT)) {
        disconnected();
      }
    }
  }

  private void disconnected() {
    set(DISCONNECTED);
    ended.complete(null);
  }

  @Override
  public void sent(long stamp) {
    out.completed(stamp);
    if (out.owes()) {
      tellLate();
    }
    if (is(CLOSED) && out.hasEnded()) {
      ended.complete(null);
    }
    changed();
  }

  private void tellLate() {
    try {
      out.sendDue();
    } catch (VerbsException e) {
      broke(e.getMessage());
    }
  }

  @Override
  public void failed(WcStatus status) {
    if (!is(DISCONNECTED)) {
      broke(status.text());
    }
  }

  @Override
  public void violated(String how) {
    LOG.debug(About.peer(remoteAddress()), "{} ends: the peer sent {}", this, how);
    broke();
  }

  private void broke(String why) {
    if (!is(BROKEN | CLOSED)) {
      LOG.debug(About.peer(remoteAddress()), "{} breaks: {}", this, why);
    }
    broke();
  }

  @Override
  public void broke() {
    set(BROKEN);
    ended.complete(null);
    changed();
  }

  /** What the connection manager says. */
  void happened(CmEvent event) {
    switch (event.type()) {
      case DISCONNECTED, DEVICE_REMOVAL -> {
        engine.progressAll(); // what has arrived counts
        if (!is(DISCONNECTED)) {
          broke(event.toString());
        }
        endpoint.confirmEnd();
      }
      default -> {
        // nothing to do
      }
    }
  }

  // Its end.

  @Override
  public void shutdownInput() {
    set(INPUT_SHUT);
    changed();
  }

  @Override
  public void shutdownOutput() throws IOException {
    if (!set(OUTPUT_SHUT) || is(DISCONNECTED | BROKEN | CLOSED)) {
      return;
    }
    boolean last = is(INPUT_ENDED);
    try {
      out.end(last ? MessageWord.DISCONNECT : MessageWord.SHUTDOWN);
    } catch (VerbsException e) {
      throw broken(e);
    }
    changed();
  }

  @Override
  public void close() {
    if (!set(CLOSED)) {
      return;
    }
    engine.addDependent(); // until its last word has arrived
    try {
      if (is(OPEN) && !is(DISCONNECTED | BROKEN)) {
        out.end(MessageWord.DISCONNECT);
      }
      if (is(DISCONNECTED | BROKEN) || !is(OPEN) || out.hasEnded()) {
        ended.complete(null);
      }
    } catch (VerbsException e) {
      broke(e.getMessage());
    }
    releaseAtEnd();
  }

  @Override
  public void reset() {
    if (set(CLOSED)) {
      engine.addDependent();
      ended.complete(null);
      releaseAtEnd();
    }
  }

  private void releaseAtEnd() {
    wakeup();
    var _ =
        ended
            .completeOnTimeout(null, LINGER_SECONDS, TimeUnit.SECONDS)
            .thenRunAsync(this::release, Thread::startVirtualThread);
  }

  private void release() {
    keepAlive.stop();
    watch(null);
    engine.removeDependent();
    endpoint.close();
  }

  @Override
  public void keepAlive(boolean on, int idleSeconds) {
    if (on && !is(CLOSED)) {
      keepAlive.start(idleSeconds);
    } else {
      keepAlive.stop();
    }
  }

  private void test() {
    try {
      out.test();
    } catch (VerbsException e) {
      broke(e.getMessage());
    }
  }

  @Override
  public InetSocketAddress localAddress() {
    return endpoint.localAddress();
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return endpoint.remoteAddress();
  }

  @Override
  public String toString() {
    return "stream %s -> %s".formatted(localAddress(), remoteAddress());
  }
}
