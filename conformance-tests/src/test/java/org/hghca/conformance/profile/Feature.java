package org.hghca.conformance.profile;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a program may miss on a card as its makers built it, from the facts about their RTL alone:
 * the tests' own list, which knows nothing of the driver's. Whatever the driver makes up for in
 * software is not here.
 *
 * <p>{@code 12.n} is line n of the table of what stops a card in docs/hardware.md; other numbers
 * are rules of the card's interface, which docs/verbs-behaviour.md names.
 */
public enum Feature {
  /** Both RTLs lack them; a WQE with one stops the first one's send side. */
  ATOMICS("atomic operations", "7.3, 9, 12.7", Says.ERROR),

  /** The wire carries the immediate shifted by one bit. */
  SEND_WITH_IMMEDIATE("SEND with immediate", "5.3, 9", Says.ERROR),

  /** RDMA WRITE with immediate takes a receive; the value is in no completion. */
  IMMEDIATE_VALUE("the value of an immediate", "5.3", Says.ATTRIBUTE),

  ZERO_LENGTH("messages of no bytes", "7.3, 12.1", Says.ERROR),

  /** The second RTL alone lacks them. */
  INLINE_DATAGRAMS("inline data of datagrams", "7.3", Says.ERROR),

  /** A receive queue may never be empty, so that requests cannot wait in a shared one. */
  SHARED_RECEIVE_QUEUES("shared receive queues", "6.6, 9, 12.5", Says.ERROR),

  /** No event queue is ever written, so that nothing but the CQE tells of a completion. */
  SOLICITED_ONLY("events of solicited completions only", "1.5, 5.6", Says.ERROR),

  /** Nor does the card tell of connections, ports, and queues that are drained. */
  CARD_EVENTS("asynchronous events that only the card knows", "1.5, 5.6", Says.ATTRIBUTE),

  /** MAD_IFC has a fixed answer. */
  PORT_STATE("the state of the port", "2.1", Says.ATTRIBUTE),

  /** The codes of both states are swapped, and sends are refused in both. */
  SQD("the state SQD", "6.3", Says.ERROR),

  /** As for SQD: a send error of UC and UD ends in ERR. */
  SQE("the state SQE", "6.3", Says.ATTRIBUTE),

  /** A message that finds no receive ends the use of the QPN as a receiver. */
  RNR_RETRY("waiting for a receive", "6.6, 9, 12.5", Says.ATTRIBUTE),

  /** No timer ever runs: a lost packet is a message that never ends. */
  LOSS_RECOVERY("recovery of lost packets", "9", Says.ATTRIBUTE),

  /** Every error of RC has syndrome 0. */
  ERROR_CAUSE("the cause of an error in the completion", "5.4", Says.ATTRIBUTE),

  /** The responder has no error CQE, and a short buffer none at all. */
  RECEIVE_ERRORS("completions of receives that fail", "5.4, 12.4", Says.ATTRIBUTE),

  /** A bad element would stop the card, so that no post with one is taken. */
  LOCAL_ERROR_COMPLETIONS("bad local keys as completions", "9, 12.3", Says.ERROR),

  /** As for bad elements: memory may not go away under a request. */
  DEREGISTERING_IN_USE("ending a region that a request names", "9, 12.3", Says.ERROR),

  /** A READ that the responder refuses makes an endless stream of packets. */
  REFUSED_READS("READs that the peer refuses", "9, 12.6", Says.ATTRIBUTE),

  /** Pages are all that the translation knows. */
  BYTE_EXACT_REMOTE_BOUNDS("remote bounds to the byte", "4.2", Says.ATTRIBUTE),

  /** The fields are not used; regions alone say what peers may do. */
  QUEUE_PAIR_ACCESS("what peers may do through a queue pair", "6.2", Says.ATTRIBUTE),

  /** A write channel stops at some crossings of a page. */
  ANY_DESTINATION("destinations at any address", "12.2", Says.ERROR),

  /** Numbers are compared without their wrap. */
  PSN_WRAP("sequence numbers that wrap", "6.2", Says.ATTRIBUTE),

  /** Payload is all that is placed. */
  GRH("the header before a datagram", "9", Says.ATTRIBUTE),

  /** Each datagram is checked against the sequence number of a connection. */
  MANY_PEERS("several peers of a datagram queue pair", "9", Says.ATTRIBUTE),

  QKEY_CHECK("the check of the Q_Key", "9", Says.ATTRIBUTE),

  /** The ports of every packet are 4791. */
  ENTROPY("flow labels", "9", Says.ATTRIBUTE),

  /** A receiver in INIT acknowledges, and loses the data. */
  SAFE_INIT("messages that wait for the receiver's RTR", "6.3, 12.12", Says.ATTRIBUTE),

  /** A QPN whose card-side position is not known is never used again. */
  QUEUE_PAIR_NUMBERS_FOR_EVER("queue pairs without end", "6.6", Says.ERROR);

  /** How a program learns that it is missing. */
  public enum Says {
    /** A verb fails; the attributes of the device say so, too. */
    ERROR("attributes; a verb fails"),
    /** The attributes of the device. */
    ATTRIBUTE("attributes");

    private final String text;

    Says(String text) {
      this.text = text;
    }

    /** For the table. */
    public String text() {
      return text;
    }
  }

  private final String what;
  private final String rules;
  private final Says says;

  Feature(String what, String rules, Says says) {
    this.what = what;
    this.rules = rules;
    this.says = says;
  }

  /** A few words for people. */
  public String what() {
    return what;
  }

  /** Where the facts prove that it is missing. */
  public String rules() {
    return rules;
  }

  /** How a program learns of it. */
  public Says says() {
    return says;
  }

  /** Name and rules. */
  public String because() {
    return name() + " (" + rules + ")";
  }

  /** Names and sections of several. */
  public static String because(List<Feature> features) {
    return features.stream().sorted().map(Feature::because).collect(Collectors.joining(", "));
  }

  /** Those that a profile lacks: the interface document has everything, its two RTLs nothing. */
  public static Set<Feature> missingOn(String profile) {
    return switch (profile) {
      case "s" -> EnumSet.noneOf(Feature.class);
      case "r1" -> EnumSet.complementOf(EnumSet.of(INLINE_DATAGRAMS));
      default -> EnumSet.allOf(Feature.class);
    };
  }

  /** Whether the profile that the tests run on lacks any of them. */
  public static List<Feature> missing(Feature... features) {
    Set<Feature> missing = missingOn(TestProfile.name());
    return Arrays.stream(features).filter(missing::contains).distinct().toList();
  }
}
