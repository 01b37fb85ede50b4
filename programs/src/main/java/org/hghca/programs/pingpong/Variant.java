package org.hghca.programs.pingpong;

import java.util.List;
import java.util.Locale;
import org.hghca.verbs.GlobalRouteHeader;
import org.hghca.verbs.QpType;

/** Which of the programs it is: {@code ibv_rc_pingpong} and the others. */
public enum Variant {
  RC(QpType.RC, "messages to and fro over a reliable connection", ""),
  UC(
      QpType.UC,
      "messages to and fro over an unreliable connection",
      " A lost message stops both ends."),
  UD(QpType.UD, "datagrams to and fro", " A lost one stops both ends."),
  SRQ(QpType.RC, "messages to and fro over reliable connections that share a receive queue", "");

  private static final String PINNED = "memory is registered and pinned as a whole.";

  /** Bytes of a message before anything is sent: '{'. */
  private static final byte FILL = 0x7b;

  private final QpType type;
  private final String sent;
  private final String loss;

  Variant(QpType type, String sent, String loss) {
    this.type = type;
    this.sent = sent;
    this.loss = loss;
  }

  String program() {
    return name().toLowerCase(Locale.ROOT) + "_pingpong";
  }

  /** What the program does. */
  String description() {
    return "Send %s, as ibv_%s of rdma-core does.%s".formatted(sent, program(), loss);
  }

  /** An option of the original that is refused. */
  record Refused(String option, String name, String reason) {}

  List<Refused> refused() {
    return switch (this) {
      case UC, UD -> List.of();
      case SRQ -> List.of(new Refused("-o", "--odp", PINNED));
      case RC ->
          List.of(
              new Refused("-o", "--odp", PINNED),
              new Refused("-O", "--iodp", PINNED),
              new Refused("-P", "--prefetch", PINNED),
              new Refused("-t", "--ts", "completions of the card have no time stamps."),
              new Refused("-j", "--dm", "the card has no memory that programs can register."),
              new Refused("-N", "--new_send", "there is one API to post sends."),
              new Refused(
                  "-U",
                  "--allow-cc-unprotected",
                  "memory of a confidential guest is never shared with its host."));
    };
  }

  QpType type() {
    return type;
  }

  boolean shares() {
    return this == SRQ;
  }

  /** Where a message begins in the memory that it is received into. */
  int header() {
    return type == QpType.UD ? GlobalRouteHeader.LENGTH : 0;
  }

  /** How many addresses go each way, however many queue pairs there are. */
  int addresses() {
    return shares() ? 256 : 1;
  }

  byte fill() {
    return shares() ? 0 : FILL;
  }

  int hopLimit() {
    return type == QpType.UD ? 64 : 1;
  }

  /** A queue pair in a line about a failure. */
  String queuePair(int index) {
    return shares() ? "QP[%d]".formatted(index) : "QP";
  }

  /** What precedes the GID in the line of the own address. */
  String beforeOwnGid() {
    return this == UD ? ": " : ", ";
  }

  String cannotReadGid(int index) {
    return (this == RC || this == UC
            ? "can't read sgid of index %d"
            : "Could not get local gid for gid index %d")
        .formatted(index);
  }
}
