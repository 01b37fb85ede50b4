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

  /** The immediate is sent shifted by one bit. */
  SEND_WITH_IMMEDIATE("SEND with immediate", "EOPNOTSUPP at the post", Place.OPCODES, Says.ERROR),

  /** RDMA WRITE with immediate consumes a receive; the value is in no completion. */
  IMMEDIATE_VALUE(
      "the value of an immediate",
      "an RDMA WRITE with immediate takes a receive, whose completion has no value",
      Place.OPCODES,
      Says.ATTRIBUTE),

  ZERO_LENGTH(
      "empty messages",
      "EOPNOTSUPP at the post; empty elements among others are omitted",
      Place.OPCODES,
      Says.ERROR),

  /** The second RTL alone lacks them. */
  INLINE_DATAGRAMS("inline data of datagrams", "EOPNOTSUPP at the post", Place.OPCODES, Says.ERROR),

  /** A receive queue may never be empty, so that requests cannot wait in a shared one. */
  SHARED_RECEIVE_QUEUES(
      "shared receive queues", "EOPNOTSUPP; max_srq is 0", Place.RECEIVES, Says.ERROR),

  /** A virtio device has none either, so that the driver deals the requests to its queue pairs. */
  SHARED_QUEUES_OF_THE_DEVICE(
      "shared receive queues in the device",
      "the driver deals the requests, if it can: each idle queue pair keeps one",
      Place.DEALT,
      Says.ATTRIBUTE),

  /** No event queue is ever written: only CQEs report completions. */
  SOLICITED_ONLY(
      "events of solicited completions only",
      "EOPNOTSUPP; events of all completions work",
      Place.EVENTS,
      Says.ERROR),

  /** The card does not report connections, ports and drained queues either. */
  CARD_EVENTS(
      "asynchronous events that only the card can detect",
      "they never come",
      Place.EVENTS,
      Says.ATTRIBUTE),

  /** MAD_IFC has a fixed answer. */
  PORT_STATE("the state of the port", "ACTIVE is assumed", Place.COMMANDS, Says.ATTRIBUTE),

  /** The codes of both states are swapped, and sends are refused in both. */
  SQD("the state SQD", "EOPNOTSUPP", Place.QUEUE_PAIRS, Says.ERROR),

  /** As for SQD: a send error of UC and UD ends in ERR. */
  SQE("the state SQE", "a send error of UC and UD leads to ERR", Place.QUEUE_PAIRS, Says.ATTRIBUTE),

  /** A message without a receive ends the use of the QPN as a receiver. */
  RNR_RETRY(
      "waiting for a receive",
      "the connection ends by time-out: post receives before the peer may send",
      Place.TRANSPORT,
      Says.ATTRIBUTE),

  /** No timer ever runs: a message with a lost packet never completes. */
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

  /** The responder has no error CQE, and a buffer that is too short has none at all. */
  RECEIVE_ERRORS(
      "completions of failed receives",
      "they stay outstanding until they are flushed",
      Place.COMPLETIONS,
      Says.ATTRIBUTE),

  /** A bad element would stop the card, so that the post refuses it. */
  LOCAL_ERROR_COMPLETIONS(
      "bad local keys as completions",
      "EINVAL at the post, which changes nothing",
      Place.HAZARDS,
      Says.ERROR),

  /** As for bad elements: memory must stay registered while a request uses it. */
  DEREGISTERING_IN_USE(
      "deregistration of a region that a request uses",
      "EBUSY until the request completes",
      Place.HAZARDS,
      Says.ERROR),

  /** A READ that the responder refuses makes an endless stream of packets. */
  REFUSED_READS(
      "READs that the peer refuses",
      "the card stops; keys of the same device are checked at the post",
      Place.TRANSPORT,
      Says.ATTRIBUTE),

  /** The second RTL checks nothing and has no error CQE. */
  REMOTE_PROTECTION(
      "protection from peers with wrong keys",
      "a peer's request is executed or lost, without an error",
      Place.TRANSPORT,
      Says.ATTRIBUTE),

  /** The translation has the granularity of pages. */
  BYTE_EXACT_REMOTE_BOUNDS(
      "remote bounds in bytes",
      "bounds are those of the pages, and R1 has none below a region",
      Place.REGIONS,
      Says.ATTRIBUTE),

  /** The fields are not used; only the access flags of regions count. */
  QUEUE_PAIR_ACCESS(
      "access rights of a queue pair",
      "only those of regions count",
      Place.REGIONS,
      Says.ATTRIBUTE),

  /** A write channel stops at some page crossings. */
  ANY_DESTINATION(
      "destinations at any address",
      "EINVAL for those that stop the card; multiples of 32 are safe",
      Place.HAZARDS,
      Says.ERROR),

  /** PSNs are compared without wrap. */
  PSN_WRAP(
      "PSNs that wrap",
      "start low: 2^24 packets per connection",
      Place.QUEUE_PAIRS,
      Says.ATTRIBUTE),

  /** Only payload is placed. */
  GRH(
      "the header before a datagram",
      "40 undefined bytes, and no GRH flag",
      Place.RECEIVES,
      Says.ATTRIBUTE),

  /** Each datagram is checked against the PSN of a connection. */
  MANY_PEERS(
      "several peers of a datagram queue pair",
      "only one is received",
      Place.TRANSPORT,
      Says.ATTRIBUTE),

  QKEY_CHECK(
      "the check of the Q_Key", "every datagram is accepted", Place.TRANSPORT, Says.ATTRIBUTE),

  /** The ports of every packet are 4791. */
  ENTROPY("flow labels", "none", Place.TRANSPORT, Says.ATTRIBUTE),

  /** A receiver in INIT acknowledges messages, and loses the data. */
  SAFE_INIT(
      "messages that wait for the receiver's RTR",
      "it fails or, on R2, gets lost: take the receiver to RTR first",
      Place.HAZARDS,
      Says.ATTRIBUTE),

  /** Whether the second RTL starts again after RESET is not known. */
  RECONNECTION(
      "RESET of a queue pair that was connected", "EIO: create another", Place.NUMBERS, Says.ERROR),

  /** Extensions of software HCAs, which neither RTL has; of the card, queue pair 1 is reserved. */
  MULTICAST("multicast groups", "EOPNOTSUPP", Place.TRANSPORT, Says.ERROR),

  PATH_MIGRATION("alternate paths", "EOPNOTSUPP", Place.TRANSPORT, Says.ERROR),

  GSI_QUEUE_PAIR("queue pair 1, for management", "EOPNOTSUPP", Place.TRANSPORT, Says.ERROR),

  /** A virtio device has no command for either; the driver of the card does without one. */
  RESIZE_CQ(
      "resizing of completion queues", "EOPNOTSUPP: create another", Place.VIRTIO, Says.ERROR),

  REREGISTRATION(
      "another registration under the same keys",
      "EOPNOTSUPP: register another region",
      Place.VIRTIO,
      Says.ERROR),

  /** A QPN whose card-side position is not known is never used again. */
  QUEUE_PAIR_NUMBERS_FOR_EVER(
      "an unlimited number of queue pairs",
      "ENOMEM once all numbers are retired; the message says how many",
      Place.NUMBERS,
      Says.ERROR);

  /** How a program detects that it is missing. */
  public enum Says {
    /** A verb fails, and the attributes of the device report it. */
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
    /** State that survives destroy. */
    NUMBERS("numbers-and-what-survives-destroy"),
    /** Receives. */
    RECEIVES("receive-rules"),
    /** Operations. */
    OPCODES("opcodes-and-immediates"),
    /** Transport. */
    TRANSPORT("transport"),
    /** Events. */
    EVENTS("events-and-interrupts"),
    /** Uses that stop the card. */
    HAZARDS("what-stops-an-r1-card-and-what-the-driver-does"),
    /** Missing on a virtio device. */
    VIRTIO("virtio-roce", "what-the-verbs-do-not-have-here"),
    /** Replaced by the driver on a virtio device. */
    DEALT("virtio-roce", "shared-receive-queues");

    private final String page;
    private final String anchor;

    Place(String anchor) {
      this("hardware", anchor);
    }

    Place(String page, String anchor) {
      this.page = page;
      this.anchor = anchor;
    }

    /** The page in {@code docs}, without its ending. */
    public String page() {
      return page;
    }

    /** The anchor of a link to the page. */
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

  /** A short description. */
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

  /** The names of several features. */
  public static String names(List<Feature> features) {
    return features.stream().sorted().map(Feature::name).collect(Collectors.joining(", "));
  }

  /**
   * The features that a profile lacks: the software HCA by the interface document, with its
   * extensions, lacks none; the two RTLs lack those of the card; a virtio device lacks what its
   * interface has no command and no number for.
   */
  public static Set<Feature> missingOn(String profile) {
    return switch (profile) {
      case "s" -> EnumSet.noneOf(Feature.class);
      case "r1" ->
          EnumSet.complementOf(
              EnumSet.of(
                  INLINE_DATAGRAMS, REMOTE_PROTECTION, RECONNECTION, RESIZE_CQ, REREGISTRATION));
      case "r2" -> EnumSet.complementOf(EnumSet.of(RESIZE_CQ, REREGISTRATION));
      default ->
          EnumSet.of(
              ATOMICS,
              SHARED_QUEUES_OF_THE_DEVICE,
              CARD_EVENTS,
              MULTICAST,
              PATH_MIGRATION,
              RESIZE_CQ,
              REREGISTRATION);
    };
  }

  /** Whether the profile under test lacks any of them. */
  public static List<Feature> missing(Feature... features) {
    Set<Feature> missing = missingOn(TestProfile.name());
    return Arrays.stream(features).filter(missing::contains).distinct().toList();
  }
}
