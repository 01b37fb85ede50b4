package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.verbs.Failures.assertErrno;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.hghca.verbs.spi.QpTransitions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The common behavior of queue pairs of all providers: connecting, and the exception of a full
 * queue.
 */
class QueuePairTest {
  private static final Gid OWN = Gid.ofMac(0x0200_0000_0001L);
  private static final QpEndpoint PEER =
      new QpEndpoint(0, 0x1234, 0xabcdef, Gid.ofMac(0x0200_0000_0002L));

  private final List<String> events = new ArrayList<>();
  private final List<QpAttributes> modified = new ArrayList<>();
  private final List<QpEndpoint> told = new ArrayList<>();
  private int room;
  private boolean psnWraps = true;
  private Optional<WrapMemory> offered = Optional.empty();

  private QueuePair queuePair(QpType type) {
    Context context =
        Fakes.of(
            Context.class,
            Map.of(
                "queryDevice",
                arguments -> attributes(),
                "queryGid",
                arguments -> {
                  events.add("gid %s of port %s".formatted(arguments[1], arguments[0]));
                  return OWN;
                },
                "queryPort",
                arguments ->
                    new PortAttributes(
                        PortState.ACTIVE,
                        false,
                        Mtu.MTU_4096,
                        Mtu.MTU_4096,
                        2,
                        1,
                        1L << 31,
                        0x17,
                        2,
                        32,
                        1)));
    ProtectionDomain domain = Fakes.of(ProtectionDomain.class, Map.of("context", a -> context));
    Map<String, Function<Object[], Object>> answers = new HashMap<>();
    answers.put("protectionDomain", a -> domain);
    answers.put("number", a -> 0x000041);
    answers.put("type", a -> type);
    answers.put("capabilities", a -> new QueuePairCapabilities(8, 16, 1, 1, 0));
    answers.put(
        "modify",
        arguments -> {
          QpAttributes attributes = (QpAttributes) arguments[0];
          events.add(attributes.state().name());
          modified.add(attributes);
          return null;
        });
    Function<Object[], Object> post =
        arguments ->
            arguments.length == 1 ? (Object) (room-- > 0) : Math.min(room, count(arguments));
    answers.put(Fakes.REPLACED + "offerWrapMemory", _ -> offered);
    answers.put(
        Fakes.REPLACED + "takeWrapMemory",
        arguments -> {
          events.add("take " + arguments[0]);
          return null;
        });
    answers.put("tryPostSend", post);
    answers.put("tryPostReceive", post);
    return Fakes.of(QueuePair.class, answers);
  }

  private DeviceAttributes attributes() {
    Set<DeviceQuirk> quirks = psnWraps ? Set.of() : Set.of(DeviceQuirk.NO_PSN_WRAP);
    return DeviceAttributes.builder().quirks(quirks).build();
  }

  private static int count(Object[] arguments) {
    assertThat(arguments[1]).isEqualTo(0);
    return (int) arguments[2];
  }

  private QpEndpoint exchange(QpEndpoint local) {
    events.add("exchange");
    told.add(local);
    return PEER;
  }

  @Test
  void connectingSendsTheLocalEndpointToThePeer() {
    queuePair(QpType.RC).connect(this::exchange);

    assertThat(events).contains("gid 0 of port 1").containsSubsequence("exchange", "RTR", "RTS");
    assertThat(told).hasSize(1);
    QpEndpoint local = told.getFirst();
    assertThat(local.qpNumber()).isEqualTo(0x41);
    assertThat(local.gid()).isEqualTo(OWN);
    assertThat(local.lid()).isEqualTo(0x17);
    assertThat(local.psn()).isBetween(0, 0xff_ffff);
    assertThat(local.toText()).hasSize(51);
  }

  @Test
  void memoryForTheWrapIsOfferedAndTakenBeforeRtr() {
    offered = Optional.of(new WrapMemory(1, 0, 4096));
    WrapMemory ofPeer = new WrapMemory(2, 0, 4096);
    QpEndpoint peer =
        new QpEndpoint(0, PEER.qpNumber(), PEER.psn(), PEER.gid(), Optional.of(ofPeer));

    queuePair(QpType.RC)
        .connect(
            local -> {
              told.add(local);
              return peer;
            });

    assertThat(told.getFirst().wrapMemory()).isEqualTo(offered);
    assertThat(events).containsSubsequence("INIT", "take " + ofPeer, "RTR", "RTS");
  }

  @Test
  void peerWithoutMemoryForTheWrapGivesNone() {
    queuePair(QpType.RC).connect(this::exchange);

    assertThat(told.getFirst().wrapMemory()).isEmpty();
    assertThat(events).noneMatch(event -> event.startsWith("take"));
  }

  /** A connection that starts high would soon fail where PSNs do not wrap. */
  @Test
  void psnsStartLowWhereTheyDoNotWrap() {
    psnWraps = false;
    for (int i = 0; i < 100; i++) {
      queuePair(QpType.RC).connect(this::exchange);
    }

    assertThat(told).extracting(QpEndpoint::psn).allMatch(psn -> psn < 1 << 16);
  }

  @Test
  void reliableConnectionTakesTheAttributesOfThePingPongs() {
    queuePair(QpType.RC).connect(this::exchange);

    assertThat(modified)
        .extracting(QpAttributes::state)
        .containsExactly(QpState.INIT, QpState.RTR, QpState.RTS);
    QpAttributes init = modified.get(0);
    assertThat(init.mask())
        .containsExactlyInAnyOrder(
            QpAttribute.STATE, QpAttribute.PKEY_INDEX, QpAttribute.PORT, QpAttribute.ACCESS_FLAGS);
    assertThat(init.pkeyIndex()).isZero();
    assertThat(init.port()).isOne();
    assertThat(init.access())
        .containsExactlyInAnyOrder(
            AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);

    QpAttributes rtr = modified.get(1);
    assertThat(rtr.mask())
        .containsExactlyInAnyOrder(
            QpAttribute.STATE,
            QpAttribute.AV,
            QpAttribute.PATH_MTU,
            QpAttribute.DEST_QPN,
            QpAttribute.RQ_PSN,
            QpAttribute.MAX_DEST_RD_ATOMIC,
            QpAttribute.MIN_RNR_TIMER);
    assertThat(rtr.pathMtu()).isEqualTo(Mtu.MTU_1024);
    assertThat(rtr.destinationQpn()).isEqualTo(0x1234);
    assertThat(rtr.receivePsn()).isEqualTo(0xabcdef);
    assertThat(rtr.maxDestinationReadAtomic()).isOne();
    assertThat(rtr.minRnrTimer()).isEqualTo(12);
    assertThat(rtr.addressVector().destination()).isEqualTo(PEER.gid());
    assertThat(rtr.addressVector().sourceGidIndex()).isZero();
    assertThat(rtr.addressVector().port()).isOne();

    QpAttributes rts = modified.get(2);
    assertThat(rts.mask())
        .containsExactlyInAnyOrder(
            QpAttribute.STATE,
            QpAttribute.TIMEOUT,
            QpAttribute.RETRY_CNT,
            QpAttribute.RNR_RETRY,
            QpAttribute.SQ_PSN,
            QpAttribute.MAX_QP_RD_ATOMIC);
    assertThat(rts.timeout()).isEqualTo(14);
    assertThat(rts.retryCount()).isEqualTo(7);
    assertThat(rts.rnrRetry()).isEqualTo(7);
    assertThat(rts.maxReadAtomic()).isOne();
    assertThat(rts.sendPsn()).isEqualTo(told.getFirst().psn());
  }

  @ParameterizedTest
  @EnumSource(names = {"RC", "UC"})
  void everyConnectedTypeGetsTheAttributesOfItsTransitions(QpType type) {
    queuePair(type).connect(this::exchange);

    QpState state = QpState.RESET;
    for (QpAttributes attributes : modified) {
      state = QpTransitions.check(type, state, attributes);
    }
    assertThat(state).isEqualTo(QpState.RTS);
  }

  @Test
  void connectOfADatagramQueuePairNamesActivate() {
    assertErrno(Errno.EINVAL, () -> queuePair(QpType.UD).connect(this::exchange))
        .hasMessageContaining("activate(qkey)");
    assertThat(modified).isEmpty();
  }

  @Test
  void datagramsAreActivatedWithoutAPeer() {
    queuePair(QpType.UD).activate(0x8765_4321);

    QpState state = QpState.RESET;
    for (QpAttributes attributes : modified) {
      state = QpTransitions.check(QpType.UD, state, attributes);
    }
    assertThat(state).isEqualTo(QpState.RTS);
    assertThat(modified.getFirst().qkey()).isEqualTo(0x8765_4321);
    assertThat(modified.getFirst().port()).isOne();
  }

  @ParameterizedTest
  @EnumSource(names = {"RC", "UC"})
  void connectedTypesAreNotActivated(QpType type) {
    assertErrno(Errno.EINVAL, () -> queuePair(type).activate(1)).hasMessageContaining("connect it");
    assertThat(modified).isEmpty();
  }

  @Test
  void optionsReachEveryAttribute() {
    ConnectionOptions options =
        ConnectionOptions.DEFAULT
            .withPort(2)
            .withGidIndex(3)
            .withAccess(AccessFlag.REMOTE_READ)
            .withReadAtomic(4)
            .withMinRnrTimer(5)
            .withTimeout(6)
            .withRetryCount(1)
            .withRnrRetry(2)
            .withFlowLabel(0xabcde)
            .withHopLimit(7)
            .withTrafficClass(0x68)
            .withServiceLevel(3);

    queuePair(QpType.RC).connect(options.withPathMtu(Mtu.MTU_2048), this::exchange);

    assertThat(events).contains("gid 3 of port 2");
    assertThat(modified.get(0).port()).isEqualTo(2);
    assertThat(modified.get(0).access()).containsExactly(AccessFlag.REMOTE_READ);
    QpAttributes rtr = modified.get(1);
    assertThat(rtr.addressVector().port()).isEqualTo(2);
    assertThat(rtr.addressVector())
        .isEqualTo(new AddressVector(PEER.gid(), 3, 0xabcde, 7, 0x68, 3, 2));
    assertThat(rtr.pathMtu()).isEqualTo(Mtu.MTU_2048);
    assertThat(rtr.maxDestinationReadAtomic()).isEqualTo(4);
    assertThat(rtr.minRnrTimer()).isEqualTo(5);
    QpAttributes rts = modified.get(2);
    assertThat(rts.maxReadAtomic()).isEqualTo(4);
    assertThat(rts.timeout()).isEqualTo(6);
    assertThat(rts.retryCount()).isEqualTo(1);
    assertThat(rts.rnrRetry()).isEqualTo(2);
  }

  @Test
  void failedExchangeIsPassedOn() {
    IllegalStateException failure = new IllegalStateException("peer is gone");

    assertThatThrownBy(
            () ->
                queuePair(QpType.RC)
                    .connect(
                        local -> {
                          throw failure;
                        }))
        .isSameAs(failure);
    assertThat(events).doesNotContain("RTR", "RTS");
  }

  @Test
  void exchangeOverASocketPassesItsExceptionOnUnwrapped() {
    IOException failure = new IOException("connection reset");

    assertThatThrownBy(() -> connectOverSocket(failure)).isSameAs(failure);
  }

  /** It throws the exception of the exchange: this compiles. */
  private void connectOverSocket(IOException failure) throws IOException {
    queuePair(QpType.RC)
        .connect(
            local -> {
              if (local.qpNumber() == 0x41) {
                throw failure;
              }
              return PEER;
            });
  }

  @Test
  void queuePairIsConnectedAfterAFailedExchange() {
    QueuePair queuePair = queuePair(QpType.RC);
    assertThatThrownBy(() -> queuePair.connect(local -> failing())).hasMessage("no peer yet");
    queuePair.connect(this::exchange);

    assertThat(modified)
        .extracting(QpAttributes::state)
        .containsExactly(QpState.INIT, QpState.INIT, QpState.RTR, QpState.RTS);
    QpState state = QpState.RESET;
    for (QpAttributes attributes : modified) {
      state = QpTransitions.check(QpType.RC, state, attributes);
    }
  }

  private static QpEndpoint failing() throws IOException {
    throw new IOException("no peer yet");
  }

  @Test
  void fullSendQueueThrowsWithQueueNumberAndDepth() {
    QueuePair queuePair = queuePair(QpType.RC);
    room = 1;
    queuePair.postSend(new SendRequest());

    assertThatThrownBy(() -> queuePair.postSend(new SendRequest()))
        .isInstanceOfSatisfying(
            BadRequestException.class,
            e -> {
              assertThat(e.errno()).isEqualTo(Errno.ENOMEM);
              assertThat(e.index()).isZero();
            })
        .hasMessage(
            "the send queue of QP 0x000041 is full: 8 requests are outstanding; poll its completion"
                + " queue: ENOMEM (12)");
  }

  @Test
  void fullReceiveQueueThrowsWithQueueNumberAndDepth() {
    QueuePair queuePair = queuePair(QpType.RC);
    room = 1;
    queuePair.postReceive(new ReceiveRequest());

    assertThatThrownBy(() -> queuePair.postReceive(new ReceiveRequest()))
        .isInstanceOfSatisfying(
            BadRequestException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM))
        .hasMessageContainingAll("receive queue of QP 0x000041", "16 requests");
  }

  @Test
  void listReportsTheFirstUnpostedRequest() {
    QueuePair queuePair = queuePair(QpType.RC);
    room = 2;
    SendRequest send = new SendRequest();
    ReceiveRequest receive = new ReceiveRequest();
    queuePair.postSend(new SendRequest[] {send, send});
    queuePair.postReceive(new ReceiveRequest[] {receive, receive});

    assertThatThrownBy(() -> queuePair.postSend(new SendRequest[] {send, send, send}))
        .isInstanceOfSatisfying(BadRequestException.class, e -> assertThat(e.index()).isEqualTo(2))
        .hasMessageContaining("request 2 of the list");
    assertThatThrownBy(
            () -> queuePair.postReceive(new ReceiveRequest[] {receive, receive, receive}))
        .isInstanceOfSatisfying(BadRequestException.class, e -> assertThat(e.index()).isEqualTo(2));
  }
}
