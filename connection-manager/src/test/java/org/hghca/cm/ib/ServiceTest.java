package org.hghca.cm.ib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Registration;
import org.hghca.cm.carrier.ServiceEvents;
import org.hghca.cm.carrier.ServiceReply;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.cm.ib.VirtualNetwork.Node;
import org.hghca.cm.ib.VirtualNetwork.Sent;
import org.hghca.cm.mad.SidrRep;
import org.hghca.cm.mad.SidrReq;
import org.hghca.verbs.VerbsException;
import org.junit.jupiter.api.Test;

/** Questions for UD queue pairs, in virtual time. */
class ServiceTest {
  /** Of port space UDP. */
  private static final long SERVICE = 0x0111_1c06L;

  private final VirtualNetwork net = new VirtualNetwork(1);
  private final Node a = net.node("a", 0x0a00_0001);
  private final Node b = net.node("b", 0x0a00_0002);
  private final Listening listening = new Listening();
  private final Registration registration = b.carrier.listen(SERVICE, b.address(7174), listening);
  private final List<Object> answers = new ArrayList<>();
  private final ServiceEvents events =
      new ServiceEvents() {
        @Override
        public void answered(ServiceReply reply) {
          answers.add(reply);
        }

        @Override
        public void unreachable(String tried) {
          answers.add(tried);
        }

        @Override
        public void failed(VerbsException cause) {
          answers.add(cause.getMessage());
        }
      };

  private Registration ask(long service) {
    Registration question = a.carrier.resolve(a.question(b, service), events);
    net.exchange();
    return question;
  }

  private ServiceReply reply(int status) {
    return new ServiceReply(
        listening.questions.getFirst().path(),
        status,
        0x33,
        0x0123_4567,
        PrivateData.of(new byte[] {9}));
  }

  private void assertNothingIsKept() {
    assertThat(a.engine.size()).isZero();
    assertThat(b.engine.size()).isZero();
  }

  @Test
  void questionIsAnswered() {
    ask(SERVICE);
    ServiceRequest seen = listening.questions.getFirst();
    assertThat(seen.serviceId()).isEqualTo(SERVICE);
    assertThat(seen.local()).isEqualTo(b.address(7174));
    assertThat(seen.remote()).isEqualTo(a.address(40001));
    assertThat(seen.path().destination()).isEqualTo(a.gid);
    assertThat(seen.path().source()).isEqualTo(b.gid);
    assertThat(seen.privateData().toArray()).startsWith(7, 0).hasSize(180);
    listening.inquiries.getFirst().answer(reply(0));
    net.exchange();
    ServiceReply reply = (ServiceReply) answers.getFirst();
    assertThat(reply.status()).isZero();
    assertThat(reply.qpNumber()).isEqualTo(0x33);
    assertThat(reply.qkey()).isEqualTo(0x0123_4567);
    assertThat(reply.path()).isEqualTo(a.pathTo(b.gid));
    assertThat(reply.privateData().toArray()).startsWith(9, 0).hasSize(136);
    List<Sent> sent = net.takeSent();
    assertThat(sent).extracting(Sent::toString).containsExactly("a SIDRREQ", "b SIDRREP");
    assertThat(sent.get(1).mad().transactionId()).isEqualTo(sent.get(0).mad().transactionId());
    SidrRep rep = VirtualNetwork.last(sent, SidrRep.class);
    assertThat(rep.requestId()).isEqualTo(VirtualNetwork.last(sent, SidrReq.class).requestId());
    assertThat(rep.serviceId()).isEqualTo(SERVICE);
    assertNothingIsKept();
    assertThatThrownBy(() -> listening.inquiries.getFirst().answer(reply(0)))
        .isInstanceOf(VerbsException.class);
  }

  @Test
  void repeatedQuestionIsOne() {
    ask(SERVICE);
    net.run(Duration.ofMillis(4096));
    net.assertSent("a SIDRREQ", "a SIDRREQ");
    assertThat(listening.inquiries).hasSize(1);
    listening.inquiries.getFirst().answer(reply(2));
    net.exchange();
    assertThat(((ServiceReply) answers.getFirst()).status()).isEqualTo(2);
    net.settle();
    assertThat(answers).hasSize(1);
  }

  /** The program is asked once: it would take another question for another client. */
  @Test
  void lostAnswerIsRepeated() {
    ask(SERVICE);
    net.lose(_ -> true);
    listening.inquiries.getFirst().answer(reply(0));
    net.exchange();
    assertThat(answers).isEmpty();
    net.loseNothing();
    net.run(Duration.ofMillis(4096));
    net.exchange();
    assertThat(listening.inquiries).hasSize(1);
    assertThat(answers).hasSize(1);
    assertThat(((ServiceReply) answers.getFirst()).qpNumber()).isEqualTo(0x33);
    net.assertSent("a SIDRREQ", "b SIDRREP", "a SIDRREQ", "b SIDRREP");
    assertNothingIsKept();
  }

  @Test
  void questionWithoutAnAnswerEndsAfterFifteenRetries() {
    net.lose(_ -> true);
    ask(SERVICE);
    net.run(Duration.ofMillis(16 * 4096));
    assertThat(net.takeSent()).hasSize(16);
    assertThat(answers)
        .containsExactly(
            "16 times a question for a service (SIDR_REQ) to 10.0.0.2 in 65.5 s without an"
                + " answer");
    assertNothingIsKept();
  }

  @Test
  void noListenerOnThePort() {
    ask(SERVICE + 1);
    assertThat(((ServiceReply) answers.getFirst()).status()).isEqualTo(1);
    registration.close();
    ask(SERVICE);
    assertThat(((ServiceReply) answers.getLast()).status()).isEqualTo(1);
    assertNothingIsKept();
  }

  @Test
  void closedQuestionIsRefusedAndCanBeClosedAgain() {
    ask(SERVICE);
    listening.inquiries.getFirst().close();
    listening.inquiries.getFirst().close();
    net.exchange();
    assertThat(((ServiceReply) answers.getFirst()).status()).isEqualTo(2);
    net.assertSent("a SIDRREQ", "b SIDRREP");
    assertNothingIsKept();
  }

  @Test
  void fullBacklogDropsTheQuestion() {
    listening.backlog = 0;
    ask(SERVICE);
    net.assertSent("a SIDRREQ");
    assertThat(b.engine.size()).isZero();
    listening.backlog = 1;
    net.run(Duration.ofMillis(4096));
    assertThat(listening.inquiries).hasSize(1);
  }

  @Test
  void askerGivesUp() {
    Registration question = ask(SERVICE);
    question.close();
    listening.inquiries.getFirst().answer(reply(0));
    net.settle();
    assertThat(answers).isEmpty();
    assertNothingIsKept();
  }

  @Test
  void addressesThatContradictTheDatagram() {
    net.fly(new SidrReq(1, 0xffff, SERVICE, PrivateData.EMPTY), b, a);
    net.exchange();
    List<Sent> sent = net.takeSent();
    assertThat(VirtualNetwork.last(sent, SidrRep.class).status()).isEqualTo(2);
    assertThat(listening.inquiries).isEmpty();
  }
}
