package org.hghca.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;
import org.hghca.wire.PortAddresses;
import org.hghca.wire.link.Link;
import org.hghca.wire.link.ReceiveBatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When a thread that polls a network may hold an acknowledgement, and when it lets it go. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HeldBeforeSleepTest {
  private static final long MAC = 0x2_0000_0000_01L;
  private static final int SEND = PacketOpcode.RC | PacketOpcode.SEND_ONLY;
  private static final int ACK = PacketOpcode.RC | PacketOpcode.ACKNOWLEDGE;

  private final EthernetPort port = new EthernetPort(MAC, new PacketPool());

  /** What the next read finds. */
  private final List<Integer> coming = new ArrayList<>();

  /** For each step, whether an acknowledgement might be held in it. */
  private final List<Boolean> holding = new ArrayList<>();

  private final Link link = link();
  private Network network;

  private Link link() {
    return proxy(
        Link.class,
        (self, method, arguments) ->
            switch (method.getName()) {
              case "addresses" -> PortAddresses.NONE;
              case "isUp", "hasRoom", "sleeps", "sleep", "sendsTogether" -> true;
              case "mayHaveReceived" -> false;
              case "pathMtu" -> 4096;
              case "receive" -> {
                receive((ReceiveBatch) arguments[0]);
                yield null;
              }
              default ->
                  method.isDefault()
                      ? InvocationHandler.invokeDefault(self, method, arguments)
                      : null;
            });
  }

  private void receive(ReceiveBatch into) {
    for (int opcode : coming) {
      into.next().opcode = opcode;
      into.filled();
    }
    coming.clear();
  }

  private Participant card() {
    return proxy(
        Participant.class,
        (_, method, _) ->
            switch (method.getName()) {
              case "step" -> {
                holding.add(network.sendsSoon());
                yield false;
              }
              case "nextDeadline" -> Long.MAX_VALUE;
              case "bytesSent" -> 0L;
              case "equals" -> true;
              default -> method.getReturnType() == boolean.class ? false : null;
            });
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  @BeforeEach
  void plug() {
    StepLock lock = new StepLock();
    Clock clock = new Clock(false);
    Participants participants = new Participants();
    CallerRuns runs =
        new CallerRuns(lock, clock, participants, new SimulationThread(lock, clock, participants));
    Participant card = card();
    network = new Network(link, Disturbance.NONE, card, port, clock, runs);
    participants.add(card);
    network.begin();
    network.beginPolling(); // so that the links' thread leaves it alone
  }

  @AfterEach
  void close() {
    network.close();
  }

  private void comes(Integer... opcodes) {
    coming.addAll(List.of(opcodes));
    holding.clear();
    network.read(link, new ReceiveBatch(), false);
  }

  @Test
  void oneMessageIsWhatAnAcknowledgementMayWaitAfter() {
    comes(SEND);
    assertThat(holding).isNotEmpty().doesNotContain(false);
    comes(SEND, SEND);
    assertThat(holding).isNotEmpty().doesNotContain(true);
  }

  /** A peer that holds its own sends it with its message. */
  @Test
  void acknowledgementThatComesWithTheMessageIsNoSecondOne() {
    comes(SEND, ACK);
    assertThat(holding).isNotEmpty().doesNotContain(false);
    comes(ACK, SEND);
    assertThat(holding).isNotEmpty().doesNotContain(false);
    comes(ACK);
    assertThat(holding).isNotEmpty().doesNotContain(true);
  }

  @Test
  void pollThatFindsNothingLetsItGo() {
    network.holds();
    Waits.await( // the links' thread may be reading just then
        () -> {
          network.idle();
          return !network.isOwing();
        });
    assertThat(holding).doesNotContain(true);
  }

  @Test
  void threadThatWaitsForAnEventLetsItGo() throws InterruptedException {
    for (Thread.Builder kind : List.of(Thread.ofPlatform(), Thread.ofVirtual())) {
      holding.clear();
      network.holds();
      kind.start(
              () -> {
                do {
                  network.beforeSleep(() -> true);
                } while (network.isOwing());
              })
          .join();
      assertThat(holding).doesNotContain(true);
      network.beginPolling();
    }
  }
}
