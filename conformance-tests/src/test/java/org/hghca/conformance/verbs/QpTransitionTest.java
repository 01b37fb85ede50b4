package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.hghca.conformance.verbs.Failures.assertErrno;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.conformance.profile.TestProfile;
import org.hghca.verbs.AccessFlag;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.ConnectionOptions;
import org.hghca.verbs.Errno;
import org.hghca.verbs.Gid;
import org.hghca.verbs.QpAttribute;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The states of a queue pair on the device: tables A1-1 and A1-2, the attributes of RC. */
class QpTransitionTest {
  /** The states that a program can bring a queue pair to. */
  private static final Set<QpState> REACHABLE = EnumSet.complementOf(EnumSet.of(QpState.SQE));

  /** Table A1-2, column Transform. */
  private static final Map<QpState, Set<QpState>> LEGAL =
      Map.of(
          QpState.RESET, EnumSet.of(QpState.RESET, QpState.INIT),
          QpState.INIT, EnumSet.of(QpState.RESET, QpState.ERR, QpState.INIT, QpState.RTR),
          QpState.RTR, EnumSet.of(QpState.RESET, QpState.ERR, QpState.RTS),
          QpState.RTS, EnumSet.of(QpState.RESET, QpState.ERR, QpState.RTS, QpState.SQD),
          QpState.SQD, EnumSet.of(QpState.RESET, QpState.ERR, QpState.RTS, QpState.SQD),
          QpState.ERR, EnumSet.of(QpState.RESET, QpState.ERR));

  static Stream<Arguments> everyPairOfStates() {
    return REACHABLE.stream()
        .flatMap(from -> Arrays.stream(QpState.values()).map(to -> Arguments.of(from, to)));
  }

  private static void requireStates(QpState from, QpState to) {
    if (from == QpState.SQD || to == QpState.SQD) {
      TestProfile.require(Feature.SQD);
    }
    if (to == QpState.SQE) {
      TestProfile.require(Feature.SQE);
    }
  }

  /** A receiver without a connection does not restart with its current PSN. */
  private static void requireReset(QpState from, QpState to) {
    boolean wasReady = from == QpState.RTR || from == QpState.RTS;
    if (wasReady && to == QpState.RESET) {
      TestProfile.require(Feature.QUEUE_PAIR_NUMBERS_FOR_EVER);
    }
  }

  private static RcPair unconnected() {
    return new RcSetup().unconnected().open();
  }

  private static void assertState(RcPair pair, QpState state) {
    assertThat(pair.left.qp.state()).isEqualTo(state);
    assertThat(pair.left.qp.query().state()).isEqualTo(state);
  }

  private static void assertRefused(RcPair pair, QpAttributes attributes, String... words) {
    assertErrno(Errno.EINVAL, () -> pair.left.qp.modify(attributes), words);
  }

  @ParameterizedTest
  @MethodSource("everyPairOfStates")
  void onlyTheTransitionsOfTheTableExist(QpState from, QpState to) {
    requireStates(from, to);
    if (to == QpState.RESET && (from == QpState.RTR || from == QpState.RTS)) {
      TestProfile.require(Feature.RECONNECTION);
    }
    try (RcPair pair = unconnected()) {
      QpFixtures.bring(pair.left.qp, pair.right.qp, from);
      assertState(pair, from);
      boolean succeeds = from == QpState.SQD || from == to;
      QpAttributes attributes =
          QpFixtures.attributes(to, succeeds ? Set.of() : QpFixtures.required(to), pair.right.qp);
      if (LEGAL.get(from).contains(to)) {
        pair.left.qp.modify(attributes);
        assertState(pair, to);
      } else {
        assertRefused(pair, attributes, from.name(), to.name());
        assertState(pair, from);
      }
    }
  }

  static Stream<Arguments> everyPairOfStatesOfEachUnreliableType() {
    return Stream.of(QpType.UC, QpType.UD)
        .flatMap(
            type -> everyPairOfStates().map(it -> Arguments.of(type, it.get()[0], it.get()[1])));
  }

  @ParameterizedTest
  @MethodSource("everyPairOfStatesOfEachUnreliableType")
  void unreliableTypesHaveTheSameTransitions(QpType type, QpState from, QpState to) {
    requireStates(from, to);
    requireReset(from, to);
    try (RcPair pair = new RcSetup().type(type).unconnected().open()) {
      QpFixtures.bring(pair.left.qp, pair.right.qp, from);
      assertState(pair, from);
      boolean succeeds = from == QpState.SQD || from == to && from != QpState.INIT;
      ConnectionOptions options = ConnectionOptions.DEFAULT;
      QpAttributes attributes =
          switch (succeeds ? QpState.ERR : to) {
            case INIT -> options.toInit(type);
            case RTR -> options.toRtr(type, RcPair.endpoint(pair.right.qp, 0));
            case RTS -> options.toRts(type, 0);
            default -> QpAttributes.to(to);
          };
      if (LEGAL.get(from).contains(to)) {
        pair.left.qp.modify(attributes);
        assertState(pair, to);
      } else {
        assertRefused(pair, attributes, from.name(), to.name());
        assertState(pair, from);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"INIT", "RTR", "RTS"})
  void missingRequiredAttributeIsRefused(QpState to) {
    QpState from = QpState.values()[to.ordinal() - 1];
    for (QpAttribute left : QpFixtures.required(to)) {
      try (RcPair pair = unconnected()) {
        QpFixtures.bring(pair.left.qp, pair.right.qp, from);
        Set<QpAttribute> some = EnumSet.copyOf(QpFixtures.required(to));
        some.remove(left);
        assertRefused(
            pair, QpFixtures.attributes(to, some, pair.right.qp), left.name(), from.name());
        assertState(pair, from);
        pair.left.qp.modify(QpFixtures.attributes(to, QpFixtures.required(to), pair.right.qp));
        assertState(pair, to);
      }
    }
  }

  static Stream<Arguments> optionalAttributes() {
    // Table A1-2, column op_param, plus what libibverbs accepts.
    return Stream.of(
        Arguments.of(QpState.RESET, QpState.INIT, Set.of()),
        Arguments.of(QpState.INIT, QpState.INIT, QpFixtures.TO_INIT),
        Arguments.of(
            QpState.INIT,
            QpState.RTR,
            Set.of(
                QpAttribute.ACCESS_FLAGS, QpAttribute.PKEY_INDEX, QpAttribute.MAX_DEST_RD_ATOMIC)),
        Arguments.of(
            QpState.RTR,
            QpState.RTS,
            Set.of(
                QpAttribute.ACCESS_FLAGS, QpAttribute.MIN_RNR_TIMER, QpAttribute.MAX_QP_RD_ATOMIC)),
        Arguments.of(
            QpState.RTS, QpState.RTS, Set.of(QpAttribute.ACCESS_FLAGS, QpAttribute.MIN_RNR_TIMER)),
        Arguments.of(QpState.RTS, QpState.ERR, Set.of()),
        Arguments.of(QpState.RTS, QpState.RESET, Set.of()),
        Arguments.of(QpState.ERR, QpState.RESET, Set.of()));
  }

  @ParameterizedTest
  @MethodSource("optionalAttributes")
  void optionalAttributeIsAcceptedOrRefusedAsInTheTable(
      QpState from, QpState to, Set<QpAttribute> optional) {
    Set<QpAttribute> required = from == to ? Set.of() : QpFixtures.required(to);
    for (QpAttribute extra : QpFixtures.SETTABLE) {
      if (required.contains(extra)) {
        continue;
      }
      try (RcPair pair = unconnected()) {
        QpFixtures.bring(pair.left.qp, pair.right.qp, from);
        QpAttributes attributes = QpFixtures.attributes(to, required, pair.right.qp);
        QpFixtures.set(attributes, extra, pair.right.qp);
        if (optional.contains(extra)) {
          pair.left.qp.modify(attributes);
          assertState(pair, to);
        } else {
          assertRefused(pair, attributes, extra.name());
          assertState(pair, from);
        }
      }
    }
  }

  /** As in libibverbs, unlike table A1-2, which requires all three again. */
  @Test
  void initToInitKeepsAttributesThatAreNotGiven() {
    try (RcPair pair = unconnected()) {
      pair.left.qp.modify(
          QpAttributes.to(QpState.INIT).pkeyIndex(0).port(1).access(AccessFlag.REMOTE_READ));
      pair.left.qp.modify(QpAttributes.to(QpState.INIT));
      pair.left.qp.modify(QpAttributes.to(QpState.INIT).port(1));
      assertThat(pair.left.qp.query().access()).isEqualTo(Set.of(AccessFlag.REMOTE_READ));
      pair.left.qp.modify(new QpAttributes().access(AccessFlag.REMOTE_WRITE));
      assertState(pair, QpState.INIT);
      assertThat(pair.left.qp.query().access()).isEqualTo(Set.of(AccessFlag.REMOTE_WRITE));
      assertThat(pair.left.qp.query().port()).isEqualTo(1);
    }
  }

  @Test
  void givenCurrentStateIsChecked() {
    try (RcPair pair = unconnected()) {
      QpFixtures.bring(pair.left.qp, pair.right.qp, QpState.RTR);
      QpAttributes attributes =
          QpFixtures.attributes(QpState.RTS, QpFixtures.TO_RTS, pair.right.qp);
      assertRefused(pair, attributes.currentState(QpState.INIT), "RTR", "INIT");
      assertState(pair, QpState.RTR);
      pair.left.qp.modify(attributes.currentState(QpState.RTR));
      assertState(pair, QpState.RTS);
    }
  }

  @Test
  @Needs(Feature.SQD)
  void requestsPostedInSqdWaitForRts() {
    try (RcPair pair = RcPair.open()) {
      pair.left.qp.modify(QpAttributes.to(QpState.SQD));
      for (int i = 0; i < 3; i++) {
        post(pair, i, 16L * i);
      }
      pair.left.assertQuiet();
      pair.right.assertQuiet();
      pair.left.qp.modify(QpAttributes.to(QpState.RTS));
      List<Wc> completions = pair.left.sent(3);
      assertThat(completions).extracting(Wc::wrId).containsExactly(0L, 1L, 2L);
      completions.forEach(Side::assertSuccess);
      for (int i = 0; i < 3; i++) {
        pair.right.expect(16L * i, pair.left, 16L * i, 16);
      }
      pair.right.verifyWritten("RDMA WRITEs posted in SQD");
    }
  }

  @Test
  @Needs(Feature.SQD)
  void messageInFlightIsFinishedInSqd() {
    try (RcPair pair = RcPair.open()) {
      // In flight, and answered with an RNR NAK: no receive is posted.
      pair.left.randomize(0, 64, new SplittableRandom(1));
      pair.left.qp.postSend(pair.left.send.wrId(1).send().sge(pair.left.buffer, 0, 64).signaled());
      pair.left.assertQuiet();
      pair.left.qp.modify(QpAttributes.to(QpState.SQD));
      post(pair, 2, 128);
      pair.right.postReceive(3, 256, 64);
      Wc first = pair.left.sent();
      Side.assertSuccess(first);
      assertThat(first.wrId()).isEqualTo(1);
      Side.assertSuccess(pair.right.received());
      pair.right.expect(256, pair.left, 0, 64);
      pair.left.assertQuiet();
      pair.left.qp.modify(QpAttributes.to(QpState.RTS));
      assertThat(pair.left.sent().wrId()).isEqualTo(2);
      pair.right.expect(128, pair.left, 128, 16);
      pair.right.verifyWritten("a SEND begun before SQD, an RDMA WRITE after it");
    }
  }

  @Test
  @Needs(Feature.SQD)
  void messagesAreReceivedInSqd() {
    try (RcPair pair = RcPair.open()) {
      pair.right.qp.modify(QpAttributes.to(QpState.SQD));
      post(pair, 1, 0);
      Side.assertSuccess(pair.left.sent());
      pair.right.expect(0, pair.left, 0, 16);
      pair.right.verifyWritten("RDMA WRITE to a queue pair in SQD");
    }
  }

  private static void post(RcPair pair, long wrId, long at) {
    pair.left.randomize(at, 16, new SplittableRandom(wrId));
    pair.left.qp.postSend(pair.write(at).wrId(wrId).sge(pair.left.buffer, at, 16).signaled());
  }

  @Test
  void invalidValuesAreRefusedAndChangeNothing() {
    try (RcPair pair = unconnected()) {
      QpAttributes init = ConnectionOptions.DEFAULT.toInit(QpType.RC);
      assertRefused(pair, init.port(2), "port 2");
      assertRefused(pair, ConnectionOptions.DEFAULT.toInit(QpType.RC).pkeyIndex(1), "P_Key");
      assertState(pair, QpState.RESET);
      QpFixtures.bring(pair.left.qp, pair.right.qp, QpState.INIT);
      AddressVector nowhere = AddressVector.to(Gid.NONE, 0);
      QpAttributes rtr = QpFixtures.attributes(QpState.RTR, QpFixtures.TO_RTR, pair.right.qp);
      assertRefused(pair, rtr.addressVector(nowhere), "global route");
      Gid stranger = Gid.ofIpv4(0x0b0c0d0e);
      assertRefused(pair, rtr.addressVector(AddressVector.to(stranger, 1)), "addNeighbor");
      Gid peer = pair.right.context.queryGid(1, 0);
      assertRefused(pair, rtr.addressVector(AddressVector.to(peer, 2)), "GID index 2");
      assertState(pair, QpState.INIT);
    }
  }

  @Test
  void queryReturnsTheLastSetValues() {
    try (RcPair pair = unconnected()) {
      QpFixtures.bring(pair.left.qp, pair.right.qp, QpState.INIT);
      pair.left.qp.modify(
          QpFixtures.attributes(QpState.RTR, QpFixtures.TO_RTR, pair.right.qp)
              .maxDestinationReadAtomic(12));
      pair.left.qp.modify(
          QpFixtures.attributes(QpState.RTS, QpFixtures.TO_RTS, pair.right.qp)
              .maxReadAtomic(12)
              .access(AccessFlag.REMOTE_READ));
      QpAttributes now = pair.left.qp.query();
      Gid peer = pair.right.context.queryGid(1, 0);
      assertThat(now.addressVector().destination()).isEqualTo(peer);
      assertThat(now.addressVector().hopLimit()).isEqualTo(64);
      assertThat(now.pathMtu().bytes()).isEqualTo(512);
      assertThat(now.destinationQpn()).isEqualTo(pair.right.qp.number());
      assertThat(now.receivePsn()).isEqualTo(0xabcdef);
      assertThat(now.sendPsn()).isEqualTo(0x123456);
      assertThat(now.minRnrTimer()).isEqualTo(5);
      assertThat(now.timeout()).isEqualTo(12);
      assertThat(now.retryCount()).isEqualTo(3);
      assertThat(now.rnrRetry()).isEqualTo(2);
      assertThat(now.pkeyIndex()).isZero();
      assertThat(now.port()).isEqualTo(1);
      assertThat(now.access()).isEqualTo(Set.of(AccessFlag.REMOTE_READ));
      assertThat(now.maxReadAtomic()).isGreaterThanOrEqualTo(12);
      assertThat(now.maxDestinationReadAtomic()).isGreaterThanOrEqualTo(12);
    }
  }

  @Test
  void readsInFlightBeyondTheDeviceLimitAreRefused() {
    try (RcPair pair = unconnected()) {
      QpFixtures.bring(pair.left.qp, pair.right.qp, QpState.RTR);
      int most = pair.left.context.queryDevice().maxQpInitiatorReadAtomic();
      QpAttributes rts = QpFixtures.attributes(QpState.RTS, QpFixtures.TO_RTS, pair.right.qp);
      assertRefused(pair, rts.maxReadAtomic(most + 1), "the device takes " + most);
      assertThatCode(() -> pair.left.qp.modify(rts.maxReadAtomic(most))).doesNotThrowAnyException();
    }
  }
}
