package org.hghca.conformance.profile;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Features that the makers' card lacks, derived only from the facts about its RTL: the tests' own
 * list, independent of the driver's. Features that the driver implements in software are not
 * listed.
 */
public enum Feature {
  /** Both RTLs lack them; a WQE with one stops the first one's send side. */
  ATOMICS("atomic operations", "EOPNOTSUPP at the post", Place.OPCODES, Says.ERROR),

  /** The wire carries the immediate shifted by one bit. */
  SEND_WITH_IMMEDIATE("SEND with immediate", "EOPNOTSUPP at the post", Place.OPCODES, Says.ERROR),

  /** RDMA WRITE with immediate takes a receive; the value is in no completion. */
  IMMEDIATE_VALUE(
      "the value of an immediate",
      "an RDMA WRITE with immediate takes a receive, whose completion is without the value",
      Place.OPCODES,
      Says.ATTRIBUTE),

  ZERO_LENGTH(
      "messages of no bytes",
      "EOPNOTSUPP at the post; empty elements among others are left out",
      Place.OPCODES,
      Says.ERROR),

  /** The second RTL alone lacks them. */
  INLINE_DATAGRAMS("inline data of datagrams", "EOPNOTSUPP at the post", Place.OPCODES, Says.ERROR),

  /** A receive queue may never be empty, so that requests cannot wait in a shared one. */
  SHARED_RECEIVE_QUEUES(
      "shared receive queues", "EOPNOTSUPP; max_srq is 0", Place.RECEIVES, Says.ERROR),

  /** No event queue is ever written, so that nothing but the CQE tells of a completion. */
  SOLICITED_ONLY(
      "events of solicited completions only",
      "EOPNOTSUPP; events of all completions are there",
      Place.EVENTS,
      Says.ERROR),

  /** Nor does the card tell of connections, ports, and queues that are drained. */
  CARD_EVENTS(
      "asynchronous events that only the card knows",
      "they never come",
      Place.EVENTS,
      Says.ATTRIBUTE),

  /** MAD_IFC has a fixed answer. */
  PORT_STATE("the state of the port", "ACTIVE is assumed", Place.COMMANDS, Says.ATTRIBUTE),

  /** The codes of both states are swapped, and sends are refused in both. */
  SQD("the state SQD", "EOPNOTSUPP", Place.QUEUE_PAIRS, Says.ERROR),

  /** As for SQD: a send error of UC and UD ends in ERR. */
  SQE("the state SQE", "a send error of UC and UD leads to ERR", Place.QUEUE_PAIRS, Says.ATTRIBUTE),

  /** A message that finds no receive ends the use of the QPN as a receiver. */
  RNR_RETRY(
      "waiting for a receive",
      "the connection ends by time-out: post receives before the peer may send",
      Place.TRANSPORT,
      Says.ATTRIBUTE),

  /** No timer ever runs: a lost packet is a message that never ends. */
  LOSS_RECOVERY(
      "recovery of lost packets",
      "the connection ends by time-out",
      Place.TRANSPORT,
      Says.ATTRIBUTE),

  /** Every error of RC has syndrome 0. */
  ERROR_CAUSE(
      "the cause of an error in the completion",
      "GENERAL_ERR where the driver cannot tell",
      Place.COMPLETIONS,
      Says.ATTRIBUTE),

  /** The responder has no error CQE, and a short buffer none at all. */
  RECEIVE_ERRORS(
      "completions of receives that fail",
      "they stay outstanding until they are flushed",
      Place.COMPLETIONS,
      Says.ATTRIBUTE),

  /** A bad element would stop the card, so that no post with one is taken. */
  LOCAL_ERROR_COMPLETIONS(
      "bad local keys as completions",
      "EINVAL at the post, which changes nothing",
      Place.HAZARDS,
      Says.ERROR),

  /** As for bad elements: memory may not go away under a request. */
  DEREGISTERING_IN_USE(
      "ending a region that a request names",
      "EBUSY until the request is done",
      Place.HAZARDS,
      Says.ERROR),

  /** A READ that the responder refuses makes an endless stream of packets. */
  REFUSED_READS(
      "READs that the peer refuses",
      "the card is lost; keys of the same device are checked at the post",
      Place.TRANSPORT,
      Says.ATTRIBUTE),

  /** The second RTL checks nothing and has no error CQE. */
  REMOTE_PROTECTION(
      "protection from peers with wrong keys",
      "a peer's request is executed or lost, without an error",
      Place.TRANSPORT,
      Says.ATTRIBUTE),

  /** Pages are all that the translation knows. */
  BYTE_EXACT_REMOTE_BOUNDS(
      "remote bounds to the byte",
      "bounds are those of the pages, and R1 has none below a region",
      Place.REGIONS,
      Says.ATTRIBUTE),

  /** The fields are not used; regions alone say what peers may do. */
  QUEUE_PAIR_ACCESS(
      "what peers may do through a queue pair",
      "regions alone say it",
      Place.REGIONS,
      Says.ATTRIBUTE),

  /** A write channel stops at some crossings of a page. */
  ANY_DESTINATION(
      "destinations at any address",
      "EINVAL for those that the card does not survive; multiples of 32 are safe",
      Place.HAZARDS,
      Says.ERROR),

  /** Numbers are compared without their wrap. */
  PSN_WRAP(
      "sequence numbers that wrap",
      "begin low: 2^24 packets a connection",
      Place.QUEUE_PAIRS,
      Says.ATTRIBUTE),

  /** Payload is all that is placed. */
  GRH(
      "the header before a datagram",
      "40 bytes of nothing, and no GRH flag",
      Place.RECEIVES,
      Says.ATTRIBUTE),

  /** Each datagram is checked against the sequence number of a connection. */
  MANY_PEERS(
      "several peers of a datagram queue pair", "one is heard", Place.TRANSPORT, Says.ATTRIBUTE),

  QKEY_CHECK("the check of the Q_Key", "every datagram is taken", Place.TRANSPORT, Says.ATTRIBUTE),

  /** The ports of every packet are 4791. */
  ENTROPY("flow labels", "none", Place.TRANSPORT, Says.ATTRIBUTE),

  /** A receiver in INIT acknowledges, and loses the data. */
  SAFE_INIT(
      "messages that wait for the receiver's RTR",
      "it fails or, on R2, gets lost: take the receiver to RTR first",
      Place.HAZARDS,
      Says.ATTRIBUTE),

  /** Whether the second RTL starts again after RESET is not known. */
  RECONNECTION(
      "RESET of a queue pair that was connected", "EIO: make another", Place.NUMBERS, Says.ERROR),

  /** A QPN whose card-side position is not known is never used again. */
  QUEUE_PAIR_NUMBERS_FOR_EVER(
      "queue pairs without end",
      "ENOMEM in the end, with the number of those retired",
      Place.NUMBERS,
      Says.ERROR);

  /** How a program detects that it is missing. */
  public enum Says {
    /** A verb fails; the attributes of the device say so, too. */
    ERROR,
    /** The attributes of the device. */
    ATTRIBUTE
  }

  /** The section of the hardware page that describes the card's behaviour. */
  public enum Place {
    /** Commands. */
    COMMANDS("commands-and-statuses"),
    /** Regions. */
    REGIONS("memory-regions-and-keys"),
    /** Completions. */
    COMPLETIONS("completion-queues-and-completions"),
    /** States. */
    QUEUE_PAIRS("queue-pairs-and-states"),
    /** What survives destroy. */
    NUMBERS("numbers-and-what-survives-destroy"),
    /** Receives. */
    RECEIVES("receive-rules"),
    /** Operations. */
    OPCODES("opcodes-and-immediates"),
    /** Transport. */
    TRANSPORT("transport"),
    /** Events. */
    EVENTS("events-and-interrupts"),
    /** What stops it. */
    HAZARDS("what-stops-an-r1-card-and-what-the-driver-does");

    private final String anchor;

    Place(String anchor) {
      this.anchor = anchor;
    }

    /** As behind the # of a link to {@code docs/hardware.md}. */
    public String anchor() {
      return anchor;
    }
  }

  private final String what;
  private final String instead;
  private final Place place;
  private final Says says;

  Feature(String what, String instead, Place place, Says says) {
    this.what = what;
    this.instead = instead;
    this.place = place;
    this.says = says;
  }

  /** A few words for people. */
  public String what() {
    return what;
  }

  /** What happens if a program uses it nevertheless. */
  public String instead() {
    return instead;
  }

  /** Where to read more. */
  public Place place() {
    return place;
  }

  /** How a program detects it. */
  public Says says() {
    return says;
  }

  /** Names of several. */
  public static String names(List<Feature> features) {
    return features.stream().sorted().map(Feature::name).collect(Collectors.joining(", "));
  }

  /** Those that a profile lacks: the interface document has everything, its two RTLs nothing. */
  public static Set<Feature> missingOn(String profile) {
    return switch (profile) {
      case "s" -> EnumSet.noneOf(Feature.class);
      case "r1" ->
          EnumSet.complementOf(EnumSet.of(INLINE_DATAGRAMS, REMOTE_PROTECTION, RECONNECTION));
      default -> EnumSet.allOf(Feature.class);
    };
  }

  /** Whether the profile that the tests run on lacks any of them. */
  public static List<Feature> missing(Feature... features) {
    Set<Feature> missing = missingOn(TestProfile.name());
    return Arrays.stream(features).filter(missing::contains).distinct().toList();
  }
}
