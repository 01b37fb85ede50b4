package org.hghca.tools.perf.peers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.hghca.programs.perf.PerfException;

/**
 * Datagrams over the loopback interface by sockets that are new for each measurement, with a thread
 * at each end that blocks. Of datagrams that are sent without waiting those count that arrive.
 */
final class UdpPeer implements Peer {
  /** Bytes of the largest datagram over IPv4. */
  private static final int LARGEST = 65_507;

  private static final long PAUSE_MILLIS = 1;

  private final ByteBuffer here = ByteBuffer.allocateDirect(LARGEST);
  private final ByteBuffer there = ByteBuffer.allocateDirect(LARGEST);

  @Override
  public String refusal(int size) {
    return size > LARGEST ? "a datagram has at most 65,507 bytes" : "";
  }

  @Override
  public Flow send(int size, int count) throws IOException, InterruptedException {
    AtomicReference<Flow> flow = new AtomicReference<>();
    CountDownLatch counted = new CountDownLatch(1);
    Ends<DatagramChannel> ends = Ends.udp();
    TwoThreads.run(
        ends,
        () -> {
          long arrived = 0;
          long allocated = Allocation.bytes();
          long start = System.nanoTime();
          long last = start;
          while (ends.server().read(there.clear()) == size) {
            arrived++;
            last = System.nanoTime();
          }
          allocated = Allocation.bytes() - allocated;
          flow.set(new Flow(arrived, last - start, (double) allocated / Math.max(1, arrived)));
          counted.countDown();
        },
        () -> {
          for (int i = 0; i < count; i++) {
            ends.client().write(here.clear().limit(size));
          }
          do { // a datagram of another size is the end, and may be lost as any
            ends.client().write(here.clear().limit(size > 1 ? size - 1 : 2));
          } while (!counted.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
        });
    if (flow.get().messages() == 0) {
      throw new PerfException("no datagram arrived");
    }
    return flow.get();
  }

  @Override
  public double pingPong(int size, int count) throws IOException, InterruptedException {
    RoundTrips trips = new RoundTrips(count);
    Ends<DatagramChannel> ends = Ends.udp();
    TwoThreads.run(
        ends,
        () -> {
          for (int i = 0; i < count; i++) {
            ends.server().read(there.clear());
            ends.server().write(there.flip());
          }
        },
        () -> {
          trips.begin();
          for (int i = 0; i < count; i++) {
            ends.client().write(here.clear().limit(size));
            ends.client().read(here.clear());
            trips.next();
          }
        });
    return trips.half();
  }
}
