package org.hghca.verbs.spi;

import static org.hghca.verbs.QpAttribute.ACCESS_FLAGS;
import static org.hghca.verbs.QpAttribute.ALT_PATH;
import static org.hghca.verbs.QpAttribute.AV;
import static org.hghca.verbs.QpAttribute.CUR_STATE;
import static org.hghca.verbs.QpAttribute.DEST_QPN;
import static org.hghca.verbs.QpAttribute.EN_SQD_ASYNC_NOTIFY;
import static org.hghca.verbs.QpAttribute.MAX_DEST_RD_ATOMIC;
import static org.hghca.verbs.QpAttribute.MAX_QP_RD_ATOMIC;
import static org.hghca.verbs.QpAttribute.MIN_RNR_TIMER;
import static org.hghca.verbs.QpAttribute.PATH_MIG_STATE;
import static org.hghca.verbs.QpAttribute.PATH_MTU;
import static org.hghca.verbs.QpAttribute.PKEY_INDEX;
import static org.hghca.verbs.QpAttribute.PORT;
import static org.hghca.verbs.QpAttribute.QKEY;
import static org.hghca.verbs.QpAttribute.RETRY_CNT;
import static org.hghca.verbs.QpAttribute.RNR_RETRY;
import static org.hghca.verbs.QpAttribute.RQ_PSN;
import static org.hghca.verbs.QpAttribute.SQ_PSN;
import static org.hghca.verbs.QpAttribute.STATE;
import static org.hghca.verbs.QpAttribute.TIMEOUT;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.hghca.verbs.Errno;
import org.hghca.verbs.QpAttribute;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.VerbsException;

/**
 * Which transitions of a queue pair exist, and which attributes each requires and allows, per type:
 * the tables of {@code ibv_modify_qp(3)}, which are those of Modify Queue Pair in the InfiniBand
 * specification. MAX_QP_RD_ATOMIC and MAX_DEST_RD_ATOMIC are never required: leaving them out keeps
 * the previous value.
 */
public final class QpTransitions {

  /**
   * What a transition takes, besides STATE, which may be left out where the state stays.
   *
   * @param required must be set
   * @param optional may be set
   */
  public record Rule(Set<QpAttribute> required, Set<QpAttribute> optional) {
    public Rule {
      required = Set.copyOf(required);
      optional = Set.copyOf(optional);
    }
  }

  private static final Map<QpType, Map<QpState, Map<QpState, Rule>>> RULES =
      new EnumMap<>(QpType.class);

  static {
    everywhere();
    connected();
    datagram();
  }

  private QpTransitions() {}

  private static void everywhere() {
    for (QpType type : QpType.values()) {
      for (QpState from : QpState.values()) {
        rule(type, from, QpState.RESET, Set.of(), Set.of());
        if (from != QpState.RESET) {
          rule(type, from, QpState.ERR, Set.of(), Set.of());
        }
      }
      rule(type, QpState.RTS, QpState.SQD, Set.of(), Set.of(EN_SQD_ASYNC_NOTIFY));
    }
  }

  private static void connected() {
    Set<QpAttribute> init = Set.of(PKEY_INDEX, PORT, ACCESS_FLAGS);
    Set<QpAttribute> path = Set.of(AV, PATH_MTU, DEST_QPN, RQ_PSN);
    for (QpType type : Set.of(QpType.RC, QpType.UC)) {
      rule(type, QpState.RESET, QpState.INIT, init, Set.of());
      rule(type, QpState.INIT, QpState.INIT, Set.of(), init);
    }
    Set<QpAttribute> late = Set.of(CUR_STATE, ACCESS_FLAGS, ALT_PATH, PATH_MIG_STATE);
    Set<QpAttribute> lateRc =
        Set.of(CUR_STATE, ACCESS_FLAGS, MIN_RNR_TIMER, ALT_PATH, PATH_MIG_STATE);

    rule(QpType.UC, QpState.INIT, QpState.RTR, path, Set.of(ALT_PATH, ACCESS_FLAGS, PKEY_INDEX));
    rule(QpType.UC, QpState.RTR, QpState.RTS, Set.of(SQ_PSN), late);
    rule(QpType.UC, QpState.RTS, QpState.RTS, Set.of(), late);
    rule(QpType.UC, QpState.SQD, QpState.RTS, Set.of(), late);
    rule(
        QpType.UC,
        QpState.SQD,
        QpState.SQD,
        Set.of(),
        Set.of(AV, ALT_PATH, ACCESS_FLAGS, PKEY_INDEX, PATH_MIG_STATE));
    rule(QpType.UC, QpState.SQE, QpState.RTS, Set.of(), Set.of(CUR_STATE, ACCESS_FLAGS));

    rule(
        QpType.RC,
        QpState.INIT,
        QpState.RTR,
        Set.of(AV, PATH_MTU, DEST_QPN, RQ_PSN, MIN_RNR_TIMER),
        Set.of(ALT_PATH, ACCESS_FLAGS, PKEY_INDEX, MAX_DEST_RD_ATOMIC));
    rule(
        QpType.RC,
        QpState.RTR,
        QpState.RTS,
        Set.of(TIMEOUT, RETRY_CNT, RNR_RETRY, SQ_PSN),
        Set.of(CUR_STATE, ALT_PATH, ACCESS_FLAGS, MIN_RNR_TIMER, PATH_MIG_STATE, MAX_QP_RD_ATOMIC));
    rule(QpType.RC, QpState.RTS, QpState.RTS, Set.of(), lateRc);
    rule(QpType.RC, QpState.SQD, QpState.RTS, Set.of(), lateRc);
    rule(
        QpType.RC,
        QpState.SQD,
        QpState.SQD,
        Set.of(),
        Set.of(
            PORT,
            AV,
            TIMEOUT,
            RETRY_CNT,
            RNR_RETRY,
            ALT_PATH,
            PATH_MIG_STATE,
            ACCESS_FLAGS,
            PKEY_INDEX,
            MIN_RNR_TIMER,
            MAX_QP_RD_ATOMIC,
            MAX_DEST_RD_ATOMIC));
  }

  private static void datagram() {
    Set<QpAttribute> init = Set.of(PKEY_INDEX, PORT, QKEY);
    Set<QpAttribute> late = Set.of(CUR_STATE, QKEY);
    rule(QpType.UD, QpState.RESET, QpState.INIT, init, Set.of());
    rule(QpType.UD, QpState.INIT, QpState.INIT, Set.of(), init);
    rule(QpType.UD, QpState.INIT, QpState.RTR, Set.of(), Set.of(PKEY_INDEX, QKEY));
    rule(QpType.UD, QpState.RTR, QpState.RTS, Set.of(SQ_PSN), late);
    rule(QpType.UD, QpState.RTS, QpState.RTS, Set.of(), late);
    rule(QpType.UD, QpState.SQD, QpState.RTS, Set.of(), late);
    rule(QpType.UD, QpState.SQD, QpState.SQD, Set.of(), Set.of(PKEY_INDEX, QKEY));
    rule(QpType.UD, QpState.SQE, QpState.RTS, Set.of(), late);
  }

  private static void rule(
      QpType type, QpState from, QpState to, Set<QpAttribute> required, Set<QpAttribute> optional) {
    RULES
        .computeIfAbsent(type, key -> new EnumMap<>(QpState.class))
        .computeIfAbsent(from, key -> new EnumMap<>(QpState.class))
        .put(to, new Rule(required, optional));
  }

  /**
   * The rule of a transition.
   *
   * @throws VerbsException EINVAL when there is no such transition
   */
  public static Rule rule(QpType type, QpState from, QpState to) {
    Rule rule = RULES.get(type).getOrDefault(from, Map.of()).get(to);
    if (rule == null) {
      throw new VerbsException(
          Errno.EINVAL, "a %s queue pair cannot go from %s to %s".formatted(type, from, to));
    }
    return rule;
  }

  /**
   * Checks attributes against a transition.
   *
   * @return the state to go to: the attributes' STATE, or {@code from} when it is not set
   * @throws VerbsException EINVAL naming the missing or the forbidden attributes
   */
  public static QpState check(QpType type, QpState from, QpAttributes attributes) {
    if (attributes.has(CUR_STATE) && attributes.currentState() != from) {
      throw new VerbsException(
          Errno.EINVAL,
          "the queue pair is in %s, not in %s".formatted(from, attributes.currentState()));
    }
    QpState to = attributes.has(STATE) ? attributes.state() : from;
    Rule rule = rule(type, from, to);
    Set<QpAttribute> mask = attributes.mask();
    EnumSet<QpAttribute> missing = EnumSet.noneOf(QpAttribute.class);
    missing.addAll(rule.required());
    missing.removeAll(mask);
    if (!missing.isEmpty()) {
      throw new VerbsException(
          Errno.EINVAL, "%s to %s of a %s queue pair needs %s".formatted(from, to, type, missing));
    }
    EnumSet<QpAttribute> forbidden = EnumSet.noneOf(QpAttribute.class);
    forbidden.addAll(mask);
    forbidden.remove(STATE);
    forbidden.removeAll(rule.required());
    forbidden.removeAll(rule.optional());
    if (!forbidden.isEmpty()) {
      throw new VerbsException(
          Errno.EINVAL,
          "%s to %s of a %s queue pair does not take %s".formatted(from, to, type, forbidden));
    }
    return to;
  }
}
