package org.hghca.programs.rdmacm;

import java.io.PrintWriter;

/**
 * The two sides of an rping, once connected: the client names a source, which the server reads; the
 * client names the data, where the server writes back what it has read.
 */
final class Pinging {
  private final RpingEnd end;
  private final PrintWriter out;
  private final PrintWriter err;
  private final boolean verbose;

  /**
   * On a connection.
   *
   * @param verbose prints the data of every ping
   */
  Pinging(RpingEnd end, boolean verbose, PrintWriter out, PrintWriter err) {
    this.end = end;
    this.verbose = verbose;
    this.out = out;
    this.err = err;
  }

  /**
   * Answers pings until the client disconnects.
   *
   * @return 0 when it did, -1 after an error
   */
  int serve() throws InterruptedException {
    try {
      while (true) {
        end.read(end.receive(RpingState.RDMA_READ_ADV));
        if (verbose) {
          out.println("server ping data: " + PingText.of(end.data()));
        }
        end.send();
        end.write(end.receive(RpingState.RDMA_WRITE_ADV));
        end.send();
      }
    } catch (RpingEndedException e) {
      return ended(e);
    }
  }

  /**
   * Pings.
   *
   * @param count how often; 0 for ever
   * @param validate whether the data that comes back is compared
   * @return 0 when all were answered or the server disconnects, -1 after an error
   */
  int ping(int count, boolean validate) throws InterruptedException {
    try {
      for (int ping = 0; count == 0 || ping < count; ping++) {
        PingText.fill(end.source(), ping);
        end.advertiseSource();
        end.receive(RpingState.RDMA_WRITE_ADV);
        end.advertiseData();
        end.receive(RpingState.RDMA_WRITE_COMPLETE);
        if (validate && end.source().mismatch(end.data()) >= 0) {
          err.println("data mismatch!");
          return -1;
        }
        if (verbose) {
          out.println("ping data: " + PingText.of(end.data()));
        }
      }
      return 0;
    } catch (RpingEndedException e) {
      return ended(e);
    }
  }

  private int ended(RpingEndedException end) {
    err.println(end.getMessage());
    return end.isDisconnected() ? 0 : -1;
  }
}
