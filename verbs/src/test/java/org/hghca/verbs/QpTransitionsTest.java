package org.hghca.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hghca.verbs.Failures.assertErrno;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.hghca.verbs.spi.QpTransitions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The state machine, against the tables of {@code ibv_modify_qp(3)}. */
class QpTransitionsTest {

  /**
   * The tables line by line: transition; types; required; optional. Two things differ: an attribute
   * with a plus is optional here where the tables require it or do not have it; and the attributes
   * of INIT to INIT are optional.
   */
  private static final String TABLE =
      """
      RESET->RESET ; UD UC RC ; ;
      RESET->INIT  ; UD    ; PKEY_INDEX PORT QKEY         ;
      RESET->INIT  ; UC RC ; PKEY_INDEX PORT ACCESS_FLAGS ;

      INIT->RESET  ; UD UC RC ; ;
      INIT->ERR    ; UD UC RC ; ;
      INIT->INIT   ; UD    ; ; PKEY_INDEX PORT QKEY
      INIT->INIT   ; UC RC ; ; PKEY_INDEX PORT ACCESS_FLAGS
      INIT->RTR    ; UD    ; ; PKEY_INDEX QKEY
      INIT->RTR    ; UC    ; AV PATH_MTU DEST_QPN RQ_PSN ; ALT_PATH ACCESS_FLAGS PKEY_INDEX
      INIT->RTR    ; RC    ; AV PATH_MTU DEST_QPN RQ_PSN MIN_RNR_TIMER ; \
      ALT_PATH ACCESS_FLAGS PKEY_INDEX +MAX_DEST_RD_ATOMIC

      RTR->RESET   ; UD UC RC ; ;
      RTR->ERR     ; UD UC RC ; ;
      RTR->RTS     ; UD    ; SQ_PSN ; CUR_STATE QKEY
      RTR->RTS     ; UC    ; SQ_PSN ; CUR_STATE ALT_PATH ACCESS_FLAGS PATH_MIG_STATE
      RTR->RTS     ; RC    ; TIMEOUT RETRY_CNT RNR_RETRY SQ_PSN ; \
      CUR_STATE ALT_PATH ACCESS_FLAGS MIN_RNR_TIMER PATH_MIG_STATE +MAX_QP_RD_ATOMIC

      RTS->RESET   ; UD UC RC ; ;
      RTS->ERR     ; UD UC RC ; ;
      RTS->RTS     ; UD    ; ; CUR_STATE QKEY
      RTS->RTS     ; UC    ; ; CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE
      RTS->RTS     ; RC    ; ; CUR_STATE ACCESS_FLAGS ALT_PATH PATH_MIG_STATE MIN_RNR_TIMER
      RTS->SQD     ; UD UC RC ; ; EN_SQD_ASYNC_NOTIFY

      SQD->RESET   ; UD UC RC ; ;
      SQD->ERR     ; UD UC RC ; ;
      SQD->RTS     ; UD    ; ; CUR_STATE QKEY
      SQD->RTS     ; UC    ; ; CUR_STATE ALT_PATH ACCESS_FLAGS PATH_MIG_STATE
      SQD->RTS     ; RC    ; ; CUR_STATE ALT_PATH ACCESS_FLAGS MIN_RNR_TIMER PATH_MIG_STATE
      SQD->SQD     ; UD    ; ; PKEY_INDEX QKEY
      SQD->SQD     ; UC    ; ; AV ALT_PATH ACCESS_FLAGS PKEY_INDEX PATH_MIG_STATE
      SQD->SQD     ; RC    ; ; PORT AV TIMEOUT RETRY_CNT RNR_RETRY ALT_PATH ACCESS_FLAGS \
      PKEY_INDEX MIN_RNR_TIMER PATH_MIG_STATE +MAX_QP_RD_ATOMIC +MAX_DEST_RD_ATOMIC

      SQE->RESET   ; UD UC RC ; ;
      SQE->ERR     ; UD UC RC ; ;
      SQE->RTS     ; UD    ; ; CUR_STATE QKEY
      SQE->RTS     ; UC    ; ; CUR_STATE ACCESS_FLAGS

      ERR->RESET   ; UD UC RC ; ;
      ERR->ERR     ; UD UC RC ; ;
      """;

  /** A line of the table, for one type. */
  record Line(
      QpType type, QpState from, QpState to, Set<QpAttribute> required, Set<QpAttribute> optional) {

    QpAttributes attributes() {
      return QpAttributesSamples.with(QpAttributes.to(to), from, required);
    }
  }

  static List<Line> table() {
    List<Line> lines = new ArrayList<>();
    for (String text : TABLE.lines().filter(line -> !line.isBlank()).toList()) {
      String[] cells = text.split(";", -1);
      String[] states = cells[0].strip().split("->");
      for (String type : cells[1].strip().split(" +")) {
        lines.add(
            new Line(
                QpType.valueOf(type),
                QpState.valueOf(states[0]),
                QpState.valueOf(states[1]),
                attributes(cells[2]),
                attributes(cells[3])));
      }
    }
    return lines;
  }

  private static Set<QpAttribute> attributes(String cell) {
    EnumSet<QpAttribute> attributes = EnumSet.noneOf(QpAttribute.class);
    Arrays.stream(cell.strip().split(" +"))
        .filter(name -> !name.isEmpty())
        .forEach(name -> attributes.add(QpAttribute.valueOf(name.replace("+", ""))));
    return attributes;
  }

  private static Optional<Line> line(QpType type, QpState from, QpState to) {
    return table().stream()
        .filter(line -> line.type() == type && line.from() == from && line.to() == to)
        .findAny();
  }

  @Test
  void tableIsComplete() {
    // 22 transitions for each type; SQE->RTS is not for RC.
    assertThat(table()).hasSize(3 * 22 - 1).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @MethodSource("table")
  void ruleMatchesTheTables(Line line) {
    QpTransitions.Rule rule = QpTransitions.rule(line.type(), line.from(), line.to());

    assertThat(rule.required()).isEqualTo(line.required());
    assertThat(rule.optional()).isEqualTo(line.optional());
  }

  @ParameterizedTest
  @EnumSource
  void everyOtherTransitionIsRefused(QpType type) {
    int refused = 0;
    for (QpState from : QpState.values()) {
      for (QpState to : QpState.values()) {
        if (line(type, from, to).isEmpty()) {
          refused++;
          String message = "a %s queue pair cannot go from %s to %s".formatted(type, from, to);
          assertErrno(Errno.EINVAL, () -> QpTransitions.rule(type, from, to))
              .hasMessageContaining(message);
          assertThatThrownBy(() -> QpTransitions.check(type, from, QpAttributes.to(to)))
              .hasMessageContaining(message);
        }
      }
    }
    assertThat(refused).isEqualTo(type == QpType.RC ? 28 : 27);
  }

  @ParameterizedTest
  @MethodSource("table")
  void requiredAttributesSuffice(Line line) {
    assertThat(QpTransitions.check(line.type(), line.from(), line.attributes()))
        .isEqualTo(line.to());
  }

  @ParameterizedTest
  @MethodSource("table")
  void optionalAttributesAreAccepted(Line line) {
    QpAttributes attributes =
        QpAttributesSamples.with(line.attributes(), line.from(), line.optional());

    assertThat(QpTransitions.check(line.type(), line.from(), attributes)).isEqualTo(line.to());
  }

  @ParameterizedTest
  @MethodSource("table")
  void eachMissingAttributeIsNamed(Line line) {
    for (QpAttribute missing : line.required()) {
      EnumSet<QpAttribute> rest = EnumSet.copyOf(line.required());
      rest.remove(missing);
      QpAttributes attributes =
          QpAttributesSamples.with(QpAttributes.to(line.to()), line.from(), rest);

      assertErrno(Errno.EINVAL, () -> QpTransitions.check(line.type(), line.from(), attributes))
          .hasMessageContaining(
              "%s to %s of a %s queue pair needs [%s]"
                  .formatted(line.from(), line.to(), line.type(), missing));
    }
  }

  @ParameterizedTest
  @MethodSource("table")
  void eachForbiddenAttributeIsNamed(Line line) {
    EnumSet<QpAttribute> forbidden = EnumSet.copyOf(QpAttributesSamples.SETTABLE);
    forbidden.remove(QpAttribute.STATE);
    forbidden.removeAll(line.required());
    forbidden.removeAll(line.optional());
    for (QpAttribute attribute : forbidden) {
      QpAttributes attributes =
          QpAttributesSamples.with(line.attributes(), line.from(), EnumSet.of(attribute));

      assertErrno(Errno.EINVAL, () -> QpTransitions.check(line.type(), line.from(), attributes))
          .hasMessageContaining(
              "%s to %s of a %s queue pair does not take [%s]"
                  .formatted(line.from(), line.to(), line.type(), attribute));
    }
  }

  @Test
  void severalMissingAttributesAreNamedTogether() {
    assertThatThrownBy(
            () -> QpTransitions.check(QpType.RC, QpState.RTR, QpAttributes.to(QpState.RTS)))
        .hasMessageContainingAll("TIMEOUT", "RETRY_CNT", "RNR_RETRY", "SQ_PSN", "EINVAL (22)");
  }

  @Test
  void withoutStateTheStateStays() {
    assertThat(
            QpTransitions.check(
                QpType.RC, QpState.RTS, new QpAttributes().access(AccessFlag.REMOTE_READ)))
        .isEqualTo(QpState.RTS);
    assertThat(QpTransitions.check(QpType.UD, QpState.SQD, new QpAttributes().qkey(1)))
        .isEqualTo(QpState.SQD);
  }

  @Test
  void missingStateIsRefusedWhereTheStateCannotStay() {
    assertThatThrownBy(() -> QpTransitions.check(QpType.RC, QpState.RTR, new QpAttributes()))
        .hasMessageContaining("cannot go from RTR to RTR");
  }

  @Test
  void wrongCurrentStateIsRefused() {
    QpAttributes attributes = QpAttributes.to(QpState.RTS).currentState(QpState.SQD);

    assertErrno(Errno.EINVAL, () -> QpTransitions.check(QpType.RC, QpState.RTS, attributes))
        .hasMessageContaining("is in RTS, not in SQD");
  }

  @Test
  void ruleCannotBeChanged() {
    QpTransitions.Rule rule = QpTransitions.rule(QpType.RC, QpState.RESET, QpState.INIT);

    assertThatThrownBy(() -> rule.required().clear())
        .isInstanceOf(UnsupportedOperationException.class);
    assertThatThrownBy(() -> rule.optional().add(QpAttribute.CAP))
        .isInstanceOf(UnsupportedOperationException.class);
  }
}
