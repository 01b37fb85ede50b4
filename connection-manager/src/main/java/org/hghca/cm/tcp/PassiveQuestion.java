package org.hghca.cm.tcp;

import java.io.IOException;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.ServiceHandshake;
import org.hghca.cm.carrier.ServiceReply;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.Errno;
import org.hghca.verbs.VerbsException;

/** A peer's question for a UD queue pair. */
final class PassiveQuestion implements ServiceHandshake {
  private static final ConditionLog LOG = ConditionLog.of(PassiveQuestion.class);

  private final TcpCarrier carrier;
  private final ServiceRequest request;
  private final Link link;
  private boolean answered;

  PassiveQuestion(TcpCarrier carrier, ServiceRequest request, Link link) {
    this.carrier = carrier;
    this.request = request;
    this.link = link;
    carrier.began(this);
  }

  /** Reads until the peer has its answer, or gives up. */
  void follow() {
    try (link) {
      throw new MalformedException(link.read().kind() + " after a question");
    } catch (IOException e) {
      LOG.debug(About.peer(request.remote()), "the question has ended", e);
    }
  }

  @Override
  public void answer(ServiceReply reply) {
    synchronized (this) {
      if (answered) {
        throw new VerbsException(
            Errno.EINVAL, "the question of %s is answered".formatted(request.remote()));
      }
      answered = true;
      link.write(Bodies.of(reply));
    }
    link.close();
    carrier.ended(this);
  }

  @Override
  public void close() {
    synchronized (this) {
      if (!answered) {
        answered = true;
        link.write(
            Bodies.of(
                new ServiceReply(request.path(), ServiceReply.REJECTED, 0, 0, PrivateData.EMPTY)));
      }
    }
    link.close();
    carrier.ended(this);
  }
}
