package org.hghca.cm.carrier;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.hghca.verbs.Context;
import org.hghca.verbs.Gid;
import org.hghca.verbs.Mtu;
import org.hghca.verbs.QpType;

/** Requests and replies for tests that do not depend on their numbers. */
public final class Requests {
  private Requests() {}

  /** From a port to itself. */
  public static Path loop(Context context) {
    Gid gid = context.queryGid(1, 0);
    return new Path(gid, 0, gid, 0, 0, 64, 0, 1, Mtu.MTU_1024, 0);
  }

  public static ConnectRequest of(
      long serviceId,
      InetSocketAddress local,
      InetSocketAddress remote,
      Path path,
      int qpNumber,
      int ackTimeout) {
    return new ConnectRequest(
        serviceId,
        local,
        remote,
        path,
        Optional.empty(),
        QpType.RC,
        qpNumber,
        false,
        1,
        1,
        1,
        7,
        7,
        false,
        ackTimeout,
        PrivateData.EMPTY,
        Optional.empty());
  }

  public static ConnectReply reply(Path path, int qpNumber, int targetAckDelay) {
    return new ConnectReply(
        path,
        qpNumber,
        false,
        2,
        1,
        1,
        7,
        false,
        targetAckDelay,
        PrivateData.EMPTY,
        Optional.empty());
  }
}
