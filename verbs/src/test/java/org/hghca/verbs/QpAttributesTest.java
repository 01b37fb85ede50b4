package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.verbs.Failures.assertErrno;

import java.util.EnumSet;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class QpAttributesTest {

  @Test
  void nothingIsSetAtFirst() {
    QpAttributes attributes = new QpAttributes();

    assertThat(attributes.mask()).isEmpty();
    assertThat(attributes.has(QpAttribute.STATE)).isFalse();
  }

  @Test
  void goingToAStateSetsTheState() {
    QpAttributes attributes = QpAttributes.to(QpState.RTR);

    assertThat(attributes.mask()).containsExactly(QpAttribute.STATE);
    assertThat(attributes.has(QpAttribute.STATE)).isTrue();
    assertThat(attributes.state()).isEqualTo(QpState.RTR);
  }

  @Test
  void otherValuesAreReadBackAndAreInTheMask() {
    AddressVector way = AddressVector.to(Gid.ofIpv4(1), 1);
    QpAttributes attributes =
        new QpAttributes()
            .currentState(QpState.SQD)
            .access(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE)
            .qkey(0x8000_0001)
            .addressVector(way)
            .pathMtu(Mtu.MTU_4096);

    assertThat(attributes.currentState()).isEqualTo(QpState.SQD);
    assertThat(attributes.access())
        .containsExactlyInAnyOrder(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    assertThat(attributes.qkey()).isEqualTo(0x8000_0001);
    assertThat(attributes.addressVector()).isEqualTo(way);
    assertThat(attributes.pathMtu()).isEqualTo(Mtu.MTU_4096);
    assertThat(attributes.mask())
        .containsExactlyInAnyOrder(
            QpAttribute.CUR_STATE,
            QpAttribute.ACCESS_FLAGS,
            QpAttribute.QKEY,
            QpAttribute.AV,
            QpAttribute.PATH_MTU);
  }

  static Stream<Arguments> numbers() {
    return Stream.of(
        number(QpAttribute.PKEY_INDEX, 16, QpAttributes::pkeyIndex, QpAttributes::pkeyIndex),
        number(QpAttribute.PORT, 8, QpAttributes::port, QpAttributes::port),
        number(QpAttribute.TIMEOUT, 5, QpAttributes::timeout, QpAttributes::timeout),
        number(QpAttribute.RETRY_CNT, 3, QpAttributes::retryCount, QpAttributes::retryCount),
        number(QpAttribute.RNR_RETRY, 3, QpAttributes::rnrRetry, QpAttributes::rnrRetry),
        number(QpAttribute.RQ_PSN, 24, QpAttributes::receivePsn, QpAttributes::receivePsn),
        number(
            QpAttribute.MAX_QP_RD_ATOMIC,
            8,
            QpAttributes::maxReadAtomic,
            QpAttributes::maxReadAtomic),
        number(QpAttribute.MIN_RNR_TIMER, 5, QpAttributes::minRnrTimer, QpAttributes::minRnrTimer),
        number(QpAttribute.SQ_PSN, 24, QpAttributes::sendPsn, QpAttributes::sendPsn),
        number(
            QpAttribute.MAX_DEST_RD_ATOMIC,
            8,
            QpAttributes::maxDestinationReadAtomic,
            QpAttributes::maxDestinationReadAtomic),
        number(
            QpAttribute.DEST_QPN, 24, QpAttributes::destinationQpn, QpAttributes::destinationQpn));
  }

  private static Arguments number(
      QpAttribute attribute,
      int bits,
      BiConsumer<QpAttributes, Integer> setter,
      ToIntFunction<QpAttributes> getter) {
    return Arguments.of(attribute, bits, setter, getter);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("numbers")
  void largestNumberFitsAndSetsOnlyItsAttribute(
      QpAttribute attribute,
      int bits,
      BiConsumer<QpAttributes, Integer> setter,
      ToIntFunction<QpAttributes> getter) {
    QpAttributes attributes = new QpAttributes();

    setter.accept(attributes, (1 << bits) - 1);

    assertThat(getter.applyAsInt(attributes)).isEqualTo((1 << bits) - 1);
    assertThat(attributes.mask()).containsExactly(attribute);
    setter.accept(attributes, 1);
    assertThat(getter.applyAsInt(attributes)).isEqualTo(1);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("numbers")
  void numberThatDoesNotFitIsRefusedAndSetsNothing(
      QpAttribute attribute,
      int bits,
      BiConsumer<QpAttributes, Integer> setter,
      ToIntFunction<QpAttributes> getter) {
    QpAttributes attributes = new QpAttributes();

    for (int value : new int[] {1 << bits, -1}) {
      assertErrno(Errno.EINVAL, () -> setter.accept(attributes, value))
          .hasMessageContainingAll(attribute.name(), Integer.toString(value), bits + " bits");
    }
    assertThat(attributes.mask()).isEmpty();
    assertThat(getter.applyAsInt(attributes)).isZero();
  }

  @Test
  void maskIsACopy() {
    QpAttributes attributes = QpAttributes.to(QpState.INIT);
    Set<QpAttribute> mask = attributes.mask();

    attributes.port(1);

    assertThat(mask).containsExactly(QpAttribute.STATE);
  }

  @Test
  void accessIsACopy() {
    EnumSet<AccessFlag> flags = EnumSet.of(AccessFlag.REMOTE_READ);
    QpAttributes attributes = new QpAttributes().access(flags);

    flags.add(AccessFlag.REMOTE_WRITE);

    assertThat(attributes.access()).containsExactly(AccessFlag.REMOTE_READ);
  }

  @Test
  void missingValueSetsNothing() {
    QpAttributes attributes = new QpAttributes();

    assertThatThrownBy(() -> attributes.state(null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> attributes.currentState(null))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> attributes.addressVector(null))
        .isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> attributes.pathMtu(null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> attributes.access((Set<AccessFlag>) null))
        .isInstanceOf(NullPointerException.class);
    assertThat(attributes.mask()).isEmpty();
  }
}
