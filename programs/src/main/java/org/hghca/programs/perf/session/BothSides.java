package org.hghca.programs.perf.session;

import java.io.PrintWriter;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.hghca.programs.peer.ReadyDevice;
import org.hghca.programs.perf.Parameters;
import org.hghca.programs.perf.PerfException;
import org.hghca.programs.perf.PerfTest;
import org.hghca.programs.perf.medium.Conversation;
import org.hghca.programs.perf.medium.Device;
import org.hghca.programs.perf.medium.LocalMedium;
import org.hghca.programs.perf.medium.Medium;
import org.hghca.programs.perf.result.Course;
import org.hghca.programs.perf.result.Figure;
import org.hghca.programs.perf.run.Watcher;
import org.hghca.verbs.Context;
import org.hghca.verbs.QpType;
import org.hghca.verbs.RdmaDevices;

/** Both sides of tests in this process, each in a thread of its own. Not thread-safe. */
public final class BothSides implements AutoCloseable {
  private final Device server;
  private final Device client;

  private BothSides(Device server, Device client) {
    this.server = server;
    this.client = client;
  }

  /**
   * Opens the devices, and waits a little for their ports.
   *
   * @param server name or locator of the device of the side that waits
   * @param client the same of the side that measures; if it is equal, both use one device
   * @throws org.hghca.verbs.VerbsException when one cannot be opened
   * @throws PerfException when a port is not active, or has no such GID
   */
  public static BothSides open(String server, String client, Parameters.Route route) {
    if (server.equals(client)) {
      Device both = Device.open(server, route);
      return new BothSides(both, both);
    }
    Context first = RdmaDevices.open(server);
    try {
      return open(first, RdmaDevices.open(client), route);
    } catch (RuntimeException e) {
      first.close();
      throw e;
    }
  }

  /**
   * Opens a device whose messages to itself come back, whatever the state of its port.
   *
   * @param device name or locator
   * @throws org.hghca.verbs.VerbsException when it cannot be opened
   * @throws PerfException when its port has no such GID
   */
  public static BothSides inLoop(String device, Parameters.Route route) {
    Context context = RdmaDevices.open(device);
    try {
      Device both = Device.inLoop(context, route);
      return new BothSides(both, both);
    } catch (RuntimeException e) {
      context.close();
      throw e;
    }
  }

  /**
   * Opened devices, whose messages are known to arrive.
   *
   * @throws PerfException when a port has no such GID
   */
  public static BothSides of(Context server, Context client, Parameters.Route route) {
    return new BothSides(Device.inLoop(server, route), Device.inLoop(client, route));
  }

  /** A port may become active only when the device at the other end of the cable is open. */
  private static BothSides open(Context first, Context second, Parameters.Route route) {
    try {
      ReadyDevice.awaitPort(first);
      ReadyDevice.awaitPort(second);
      Device server = Device.of(first, route);
      Device client = Device.of(second, route);
      server.addNeighbor(client);
      client.addNeighbor(server);
      return new BothSides(server, client);
    } catch (RuntimeException e) {
      second.close();
      throw e;
    }
  }

  /** The side that waits. */
  public Device server() {
    return server;
  }

  /** The side that measures; maybe the same object. */
  public Device client() {
    return client;
  }

  @Override
  public void close() {
    client.close();
    if (server != client) {
      server.close();
    }
  }

  /**
   * What was measured: by the client, but by the server how many SENDs arrived of those that may be
   * lost.
   *
   * @param figures the rows
   * @param document the same as JSON
   * @param courses rates over the time, of measurements by time
   * @param whole whether it came to its end; otherwise the thread was interrupted
   */
  public record Outcome(
      List<Figure> figures, PerfDocument document, List<Course> courses, boolean whole) {}

  /**
   * Runs a test. An interrupt ends it, with the figures so far.
   *
   * @param watcher is told what the client does
   * @throws PerfException when a side fails: the reason of the one that did first
   * @throws org.hghca.verbs.VerbsException when a verb of a side does
   */
  public Outcome run(Parameters parameters, Watcher watcher) {
    List<Medium> ends = LocalMedium.pair(Conversation.SOON);
    BlockingQueue<Side> ended = new LinkedBlockingQueue<>();
    AtomicReference<RuntimeException> failure = new AtomicReference<>();
    Side waiting =
        new Side(parameters, server, ends.getFirst(), false, Watcher.none(), ended, failure);
    Side measuring = new Side(parameters, client, ends.getLast(), true, watcher, ended, failure);
    waiting.thread.start();
    measuring.thread.start();
    boolean interrupted = false;
    for (int left = 2; left > 0; ) {
      try {
        Side side = ended.take();
        left--;
        if (interrupted || failure.get() != null) {
          (side == waiting ? measuring : waiting).thread.interrupt();
        }
      } catch (InterruptedException _) {
        interrupted = true;
        measuring.thread.interrupt();
      }
    }
    if (failure.get() != null && !interrupted) {
      throw failure.get();
    }
    boolean losing = parameters.test() == PerfTest.IB_SEND_BW && parameters.type() != QpType.RC;
    Side counting = losing ? waiting : measuring;
    return new Outcome(
        counting.figures, counting.session.document(), counting.session.courses(), !interrupted);
  }

  /** One side, whose fields others read when it has ended. */
  private static final class Side {
    private final List<Figure> figures = new ArrayList<>();
    private final PerfSession session;
    private final Thread thread;

    Side(
        Parameters parameters,
        Device device,
        Medium medium,
        boolean client,
        Watcher watcher,
        BlockingQueue<Side> ended,
        AtomicReference<RuntimeException> failure) {
      PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
      session =
          new PerfSession(
              parameters, _ -> parameters, device, nowhere, nowhere, figures::add, watcher);
      thread =
          Thread.ofPlatform()
              .name(client ? "perf client" : "perf server")
              .unstarted(
                  () -> {
                    try (medium) {
                      run(medium, client, failure);
                    } finally {
                      ended.add(this);
                    }
                  });
    }

    /** Keeps its failure before the other side can see that the conversation has ended. */
    private void run(Medium medium, boolean client, AtomicReference<RuntimeException> failure) {
      try {
        boolean _ = session.run(medium, client);
      } catch (InterruptedException _) {
        // The other side has failed, or both are to end.
      } catch (RuntimeException e) {
        boolean _ = failure.compareAndSet(null, e);
      } catch (Error e) {
        boolean _ = failure.compareAndSet(null, new IllegalStateException(e));
      }
    }
  }
}
