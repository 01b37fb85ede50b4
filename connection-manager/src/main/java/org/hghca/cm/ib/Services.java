package org.hghca.cm.ib;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.hghca.cm.carrier.PrivateData;
import org.hghca.cm.carrier.Registration;
import org.hghca.cm.carrier.ServiceEvents;
import org.hghca.cm.carrier.ServiceHandshake;
import org.hghca.cm.carrier.ServiceReply;
import org.hghca.cm.carrier.ServiceRequest;
import org.hghca.cm.ib.Requests.Addresses;
import org.hghca.cm.mad.Mad;
import org.hghca.cm.mad.SidrRep;
import org.hghca.cm.mad.SidrReq;
import org.hghca.log.About;
import org.hghca.log.ConditionLog;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.VerbsException;

/** Questions for UD queue pairs, and those of peers. Used under the agent's lock. */
final class Services {
  private static final ConditionLog LOG = ConditionLog.of(Services.class);

  /** So many answers are kept for peers that have lost one, and ask again. */
  private static final int ANSWERS = 1024;

  private static final int UNSUPPORTED = 1;

  private final MadAgent agent;
  private final Listeners listeners;
  private final RandomGenerator random;
  private final Map<Integer, Question> questions = new HashMap<>();
  private final Map<Asker, Inquiry> inquiries = new HashMap<>();
  private final HalfOpen pending = new HalfOpen();

  /** The newest answers, the oldest first. */
  private final Map<Answered, byte[]> answers = new LinkedHashMap<>();

  /** A question of a peer. */
  private record Asker(Gid gid, int requestId) {}

  /** One that was answered: when it is repeated, it has the same transaction. */
  private record Answered(Asker asker, long transaction) {}

  Services(MadAgent agent, Listeners listeners, RandomGenerator random) {
    this.agent = agent;
    this.listeners = listeners;
    this.random = random;
  }

  /** A question of this end. */
  private final class Question implements Registration {
    private final int requestId;
    private final ServiceRequest request;
    private final ServiceEvents events;
    private Optional<Repetition> repetition = Optional.empty();
    private boolean closed;

    Question(int requestId, ServiceRequest request, ServiceEvents events) {
      this.requestId = requestId;
      this.request = request;
      this.events = events;
    }

    private void begin() {
      byte[] mad =
          agent.encoded(
              () -> new Mad(agent.newTransaction(), Requests.toSidrReq(request, requestId)));
      questions.put(requestId, this);
      repetition =
          Optional.of(
              Repetition.begin(
                  agent,
                  mad,
                  request.path().vector(),
                  Timeouts.nanos(Timeouts.RESPONSE),
                  Timeouts.RETRIES,
                  this::unanswered));
    }

    private void unanswered() {
      fail(repetition.orElseThrow().describe("a question for a service (SIDR_REQ)"));
    }

    private void fail(String tried) {
      end();
      agent.deliver(() -> !closed, () -> events.unreachable(tried));
    }

    private void answered(SidrRep rep) {
      end();
      ServiceReply reply =
          new ServiceReply(
              request.path(), rep.status(), rep.qpNumber(), rep.queueKey(), rep.privateData());
      agent.deliver(() -> !closed, () -> events.answered(reply));
    }

    private void fail(VerbsException cause) {
      end();
      agent.deliver(() -> !closed, () -> events.failed(cause));
    }

    private void end() {
      questions.remove(requestId, this);
      repetition.ifPresent(Repetition::end);
    }

    @Override
    public void close() {
      agent.lockedThenWake(
          () -> {
            closed = true;
            end();
          });
    }
  }

  /** A question of a peer. */
  private final class Inquiry implements ServiceHandshake {
    private final Asker asker;
    private final long transaction;
    private final SidrReq req;
    private final Arrival from;

    Inquiry(Asker asker, long transaction, SidrReq req, Arrival from) {
      this.asker = asker;
      this.transaction = transaction;
      this.req = req;
      this.from = from;
    }

    private boolean isPending() {
      return inquiries.get(asker) == this;
    }

    @Override
    public void answer(ServiceReply reply) {
      agent.lockedThenWake(
          () -> {
            agent.checkAlive();
            if (!isPending()) {
              throw new VerbsException(
                  Errno.EINVAL, "the question for a service is answered or closed");
            }
            SidrRep rep =
                new SidrRep(
                    req.requestId(),
                    reply.status(),
                    reply.qpNumber(),
                    req.serviceId(),
                    reply.qkey(),
                    PrivateData.EMPTY,
                    reply.privateData());
            byte[] mad = agent.encoded(new Mad(transaction, rep));
            remove(this);
            keep(mad);
            agent.send(mad, from.back());
          });
    }

    @Override
    public void close() {
      agent.lockedThenWake(
          () -> {
            if (remove(this)) {
              refuse(transaction, req, from, ServiceReply.REJECTED);
            }
          });
    }

    private void drop() {
      agent.lockedThenWake(() -> remove(this));
    }

    private void keep(byte[] answer) {
      if (answers.size() == ANSWERS) {
        answers.remove(answers.keySet().iterator().next());
      }
      answers.put(new Answered(asker, transaction), answer);
    }
  }

  private boolean remove(Inquiry inquiry) {
    boolean removed = inquiries.remove(inquiry.asker, inquiry);
    if (removed) {
      pending.remove(inquiry.asker.gid());
    }
    return removed;
  }

  private void refuse(long transaction, SidrReq req, Arrival from, int status) {
    SidrRep rep =
        new SidrRep(
            req.requestId(), status, 0, req.serviceId(), 0, PrivateData.EMPTY, PrivateData.EMPTY);
    agent.send(agent.encoded(new Mad(transaction, rep)), from.back());
  }

  Registration ask(ServiceRequest request, ServiceEvents events) {
    int id;
    do {
      id = random.nextInt();
    } while (id == 0 || questions.containsKey(id));
    Question question = new Question(id, request, events);
    question.begin();
    return question;
  }

  void answered(SidrRep rep, Arrival from) {
    Optional.ofNullable(questions.get(rep.requestId()))
        .filter(question -> question.request.path().destination().equals(from.peer()))
        .ifPresent(question -> question.answered(rep));
  }

  void asked(long transaction, SidrReq req, Arrival from) {
    Asker asker = new Asker(from.peer(), req.requestId());
    if (inquiries.containsKey(asker)) {
      return; // the answer is due
    }
    byte[] answer = answers.get(new Answered(asker, transaction));
    if (answer != null) {
      agent.send(answer, from.back()); // the program would take it for another client
      return;
    }
    if (!listeners.hasService(req.serviceId())) {
      refuse(transaction, req, from, UNSUPPORTED);
      return;
    }
    Optional<Addresses> addresses =
        Requests.addresses(req.serviceId(), from.peer(), from.own(), req.privateData(), from);
    Optional<Listeners.Entry> listener =
        addresses.flatMap(both -> listeners.at(req.serviceId(), both.local().getAddress()));
    if (listener.isEmpty()) {
      refuse(transaction, req, from, ServiceReply.REJECTED);
    } else if (pending.isFullFor(from.peer())) {
      LOG.debug(About.peer(from.peer()), "dropped: too many questions are pending");
    } else {
      Inquiry inquiry = new Inquiry(asker, transaction, req, from);
      inquiries.put(asker, inquiry);
      pending.add(from.peer());
      ServiceRequest request = Requests.toRequest(req, addresses.orElseThrow(), from, agent.mtu());
      agent.deliver(
          () -> isListening(listener.get(), inquiry),
          () -> offer(listener.get(), inquiry, request));
    }
  }

  /** Whether the listener is still open. */
  private boolean isListening(Listeners.Entry listener, Inquiry inquiry) {
    if (listeners.isOpen(listener)) {
      return true;
    }
    if (remove(inquiry)) {
      refuse(inquiry.transaction, inquiry.req, inquiry.from, UNSUPPORTED);
    }
    return false;
  }

  private static void offer(Listeners.Entry listener, Inquiry inquiry, ServiceRequest request) {
    boolean taken = false;
    try {
      taken = listener.listener().requested(inquiry, request);
    } finally {
      if (!taken) {
        inquiry.drop();
      }
    }
  }

  void unsendable(Gid destination, String why) {
    for (Question question : new ArrayList<>(questions.values())) {
      if (question.request.path().destination().equals(destination)) {
        question.fail(why);
      }
    }
  }

  /** No datagram reaches any peer any more. */
  void fail(VerbsException cause) {
    new ArrayList<>(questions.values()).forEach(question -> question.fail(cause));
    inquiries.clear();
    pending.clear();
  }

  void clear() {
    new ArrayList<>(questions.values()).forEach(Question::end);
    inquiries.clear();
    pending.clear();
  }

  int size() {
    return questions.size() + inquiries.size();
  }
}
