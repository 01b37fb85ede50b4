package org.hghca.vfio.user;

import java.lang.foreign.MemorySegment;
import java.nio.file.attribute.GroupPrincipal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.locks.LockSupport;
import org.hghca.linux.LinuxErrno;
import org.hghca.linux.SystemCalls;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.vfio.ConfigurationSpace;
import org.hghca.vfio.DeviceBus;
import org.hghca.vfio.DmaFault;
import org.hghca.vfio.EmulatedFunction;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.dma.DmaFaults;
import org.hghca.vfio.linux.HostCalls;

/**
 * Serves a device in software at a UNIX socket by the vfio-user protocol: to one client at a time;
 * others are told that the device is busy. A client's memory, its events and the state of the
 * device are removed before the next client is served. Thread-safe.
 */
public final class UserServer implements AutoCloseable {
  private static final ConditionLog LOG = ConditionLog.of(UserServer.class);

  /** How long to wait after a client could not be accepted. */
  private static final long PAUSE_NANOS = 100_000_000;

  private final String path;

  /** For the log. */
  private final About about;

  private final EmulatedFunction device;
  private final SystemCalls system;
  private final Duration patience;
  private final UserListener listener;
  private final DmaFaults faults = new DmaFaults();
  private final DmaTable memory;
  private final EventVectors vectors;
  private final Thread thread;
  private final WaitingClients waiting = new WaitingClients(this::served);
  private final Thread accepting;
  private volatile Conversation conversation;

  /** Of the client with the conversation. */
  private volatile int process;

  private volatile long clients;
  private boolean stopped;

  private UserServer(
      SystemCalls system,
      String path,
      Optional<GroupPrincipal> group,
      EmulatedFunction device,
      Duration patience) {
    this.path = path;
    this.about = About.device(path);
    this.device = device;
    this.system = system;
    this.patience = patience;
    this.listener = UserListener.open(system, path, group);
    this.memory = new DmaTable(new ClientFiles(system), new Client(), faults);
    this.vectors = new EventVectors(system, device.interruptVectors());
    this.thread = Thread.ofPlatform().daemon().name("hghca-server").unstarted(this::serve);
    this.accepting = Thread.ofPlatform().daemon().name("hghca-accept").unstarted(this::accept);
  }

  /**
   * Begins to serve a device to clients of this user, as {@link #start(String, Optional,
   * EmulatedFunction)} does.
   */
  public static UserServer start(String path, EmulatedFunction device) {
    return start(path, Optional.empty(), device);
  }

  /**
   * Begins to serve a device, which is plugged in by this and closed by {@link #close}.
   *
   * @param path of the socket; a dead server's is replaced, and it is removed at the end
   * @param group whose members may connect as well as this user: the mode of the socket is 0660,
   *     without a group 0600, whatever the umask
   * @throws VfioException {@code BUSY} when another server uses it; {@code INVALID}, {@code
   *     NOT_FOUND} or {@code NO_PERMISSION} when a socket cannot be there, or cannot be the
   *     group's. The device is the caller's to close then
   */
  public static UserServer start(
      String path, Optional<GroupPrincipal> group, EmulatedFunction device) {
    return start(HostCalls.system(), path, group, device, UserTimeouts.CLIENT);
  }

  /**
   * As {@link #start(String, Optional, EmulatedFunction)}.
   *
   * @param patience how long the server waits for a client before it regards it as gone
   */
  static UserServer start(
      SystemCalls system,
      String path,
      Optional<GroupPrincipal> group,
      EmulatedFunction device,
      Duration patience) {
    UserServer server = new UserServer(system, path, group, device, patience);
    device.attach(server.new Bus());
    server.thread.start();
    server.accepting.start();
    return server;
  }

  public String path() {
    return path;
  }

  /** Number of clients that have been served, including the current one. */
  public long clients() {
    return clients;
  }

  /** Whether a client is connected. */
  public boolean isConnected() {
    return conversation != null;
  }

  /** Number of memory ranges that the client has mapped. */
  public int mappings() {
    return memory.ranges();
  }

  /** The device's accesses to memory that were refused, oldest first; the newest 64. */
  public List<DmaFault> dmaFaults() {
    return faults.list();
  }

  public long dmaFaultCount() {
    return faults.count();
  }

  /** The process of a client that has agreed on a version, 0 if it is unknown. */
  private OptionalInt served() {
    Conversation with = conversation;
    return with != null && with.isGreeted() ? OptionalInt.of(process) : OptionalInt.empty();
  }

  private void serve() {
    for (var client = waiting.next(); client.isPresent(); client = waiting.next()) {
      serve(client.get());
    }
  }

  private void accept() {
    while (!isStopped()) {
      int socket = listener.accept();
      if (socket >= 0) {
        UserChannel channel = new UserChannel(system, socket, patience);
        if (listener.isOutOfDescriptors()) {
          turnAway(channel);
        } else {
          admit(channel, UserSocket.peerProcess(system, socket));
        }
      } else if (!LinuxErrno.EINTR.is(socket) && !isStopped()) {
        LOG.warn(about, "cannot accept a client: {}", LinuxErrno.describe(socket));
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  /**
   * Rejects a client, because this process has no descriptors for it, in the reply to its first
   * message.
   */
  private void turnAway(UserChannel channel) {
    LOG.warn(about, "a client is rejected, no descriptor is left: raise ulimit -n");
    try (channel;
        UserMessage message = new UserMessage(Conversation.MAX_PAYLOAD, 0)) {
      channel.beginHandshake(UserTimeouts.HANDSHAKE);
      if (channel.receive(message)) {
        message.failure(message, LinuxErrno.EMFILE.number());
        channel.send(message);
      }
    } catch (VfioException e) {
      LOG.debug(about, "the rejected client is gone", e);
    }
  }

  private void admit(UserChannel channel, int from) {
    if (!waiting.add(new WaitingClients.Client(channel, from, System.nanoTime()))) {
      LOG.warn(about, "a client is rejected: {} wait already", WaitingClients.MOST);
      channel.close();
    }
  }

  private void serve(WaitingClients.Client client) {
    Conversation with = new Conversation(system, client.channel(), patience);
    About by = about.with("process " + client.process());
    if (!begin(with, client.process())) {
      with.close();
      with.discard();
      return;
    }
    LOG.info(by, "a client came");
    String why = "it hung up";
    try (UserSession session = new UserSession(system, by, device, with, memory, vectors)) {
      session.run();
    } catch (VfioException e) {
      why = e.getMessage();
    } catch (RuntimeException | Error e) {
      LOG.error(by, "the connection of a client failed", e);
      why = e.toString();
    }
    forget(with);
    LOG.info(by, "a client is gone: {}", why);
  }

  private synchronized boolean begin(Conversation with, int from) {
    if (stopped) {
      return false;
    }
    clients++;
    process = from;
    conversation = with;
    return true;
  }

  /**
   * Removes all state of a client: first it stops the device's access, then it releases the
   * client's memory and events.
   */
  private void forget(Conversation with) {
    with.close();
    try {
      device.writeConfiguration(ConfigurationSpace.COMMAND, 2, 0);
      if (device.canReset()) {
        device.reset();
      }
    } catch (RuntimeException e) {
      LOG.error(about, "the device could not be reset", e);
    }
    memory.clear();
    vectors.clear();
    with.discard();
    conversation = null;
  }

  private synchronized boolean isStopped() {
    return stopped;
  }

  /** Hangs up, removes the socket and closes the device. Idempotent. */
  @Override
  public void close() {
    synchronized (this) {
      if (stopped) {
        return;
      }
      stopped = true;
      if (conversation != null) {
        conversation.close();
      }
    }
    listener.stop();
    boolean interrupted = join(accepting);
    waiting.close();
    interrupted |= join(thread);
    listener.close();
    device.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for the end of a thread; says whether the calling one was interrupted meanwhile. */
  private static boolean join(Thread ending) {
    boolean interrupted = false;
    while (ending.isAlive()) {
      try {
        ending.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    return interrupted;
  }

  /** The memory of the current client. */
  private final class Client implements RemoteMemory {
    @Override
    public boolean read(long iova, MemorySegment destination, long offset, long length) {
      Conversation with = conversation;
      return with != null && with.read(iova, destination, offset, length);
    }

    @Override
    public boolean write(long iova, MemorySegment source, long offset, long length) {
      Conversation with = conversation;
      return with != null && with.write(iova, source, offset, length);
    }
  }

  private final class Bus implements DeviceBus {
    @Override
    public boolean read(long iova, MemorySegment destination, long offset, long length) {
      return memory.read(iova, destination, offset, length);
    }

    @Override
    public boolean write(long iova, MemorySegment source, long offset, long length) {
      return memory.write(iova, source, offset, length);
    }

    @Override
    public void raise(int vector) {
      vectors.raise(vector);
    }

    @Override
    public boolean mayWait() {
      return memory.mayWait();
    }
  }
}
