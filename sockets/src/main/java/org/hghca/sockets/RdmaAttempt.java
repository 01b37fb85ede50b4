package org.hghca.sockets;

import java.io.IOException;
import org.hghca.sockets.stream.PendingConnect;

/** A connect over RDMA alone. */
record RdmaAttempt(PendingConnect pending) implements Attempt {
  @Override
  public boolean done() {
    return pending.done();
  }

  @Override
  public boolean await(long deadline) {
    return pending.await(deadline);
  }

  @Override
  public Connected finish() throws IOException {
    return new Connected(pending.finish(), null);
  }

  @Override
  public void watch(Runnable onChange) {
    pending.watch(onChange);
  }

  @Override
  public void cancel() {
    pending.cancel();
  }
}
