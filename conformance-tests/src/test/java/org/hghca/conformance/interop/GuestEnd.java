package org.hghca.conformance.interop;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.WcStatus;

/** The end of the guest's soft RoCE. */
final class GuestEnd implements End, AutoCloseable {
  private static final int PATIENCE_SECONDS = 60;

  /** The agent's names of its queue pair and its buffer: there is one of each. */
  private static final String NAME = "end";

  private final GuestVerbs guest;
  private final long address;
  private final int rkey;
  private final int qpn;
  private final int psn;
  private boolean destroyed;

  GuestEnd(GuestVerbs guest, QpType type, long bytes) {
    this.guest = guest;
    Map<String, String> buffer =
        guest.ask("buffer", "name", NAME, "length", bytes, "access_to", "local+write+read+atomic");
    address = Long.parseUnsignedLong(buffer.get("address"));
    rkey = Integer.parseUnsignedInt(buffer.get("rkey"));
    Map<String, String> made = guest.ask("qp", "name", NAME, "kind", kind(type));
    qpn = Integer.parseInt(made.get("qpn"));
    psn = Integer.parseInt(made.get("psn"));
  }

  private static String kind(QpType type) {
    return switch (type) {
      case RC -> "rc";
      case UC -> "uc";
      case UD -> "ud";
      default -> throw new IllegalArgumentException(type.toString());
    };
  }

  int qpn() {
    return qpn;
  }

  int psn() {
    return psn;
  }

  /** Sends a query about its queue pair. */
  Map<String, String> ask(String request, Object... arguments) {
    Object[] all = Arrays.copyOf(arguments, arguments.length + 2);
    all[arguments.length] = "qp";
    all[arguments.length + 1] = NAME;
    return guest.ask(request, all);
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public int rkey() {
    return rkey;
  }

  @Override
  public void fill(long offset, long length, int seed) {
    guest.ask("fill", "buffer", NAME, "offset", offset, "length", length, "seed", seed);
  }

  @Override
  public void zero(long offset, long length) {
    guest.ask("zero", "buffer", NAME, "offset", offset, "length", length);
  }

  @Override
  public long differs(long offset, long length, int seed) {
    return Long.parseLong(
        guest
            .ask("verify", "buffer", NAME, "offset", offset, "length", length, "seed", seed)
            .get("differs"));
  }

  @Override
  public long number(long offset) {
    return ByteBuffer.wrap(HexFormat.of().parseHex(bytes(offset, Long.BYTES)))
        .order(ByteOrder.nativeOrder())
        .getLong();
  }

  @Override
  public void number(long offset, long value) {
    byte[] data =
        ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putLong(value).array();
    guest.ask("put", "buffer", NAME, "offset", offset, "data", HexFormat.of().formatHex(data));
  }

  /** Bytes of the buffer as hexadecimal digits. */
  String bytes(long offset, long length) {
    return guest.ask("bytes", "buffer", NAME, "offset", offset, "length", length).get("hex");
  }

  @Override
  public void receive(long wr, long offset, long length) {
    ask("receive", "buffer", NAME, "offset", offset, "length", length, "wr", wr);
  }

  @Override
  public void send(Work work) {
    post(
        work,
        "address",
        Long.toUnsignedString(work.remoteAddress()),
        "rkey",
        Integer.toUnsignedString(work.rkey()),
        "compare",
        Long.toUnsignedString(work.compare()),
        "operand",
        Long.toUnsignedString(work.operand()));
  }

  /** Sends a datagram by an address handle that the agent has under that name. */
  void send(Work work, String handle, int qpn, int qkey) {
    post(work, "handle", handle, "qpn", qpn, "qkey", qkey);
  }

  private void post(Work work, Object... target) {
    List<Object> arguments = new ArrayList<>();
    Collections.addAll(arguments, "operation", work.kind(), "wr", work.wr(), "buffer", NAME);
    Collections.addAll(arguments, "offset", work.offset(), "length", work.length());
    Collections.addAll(arguments, "imm", Integer.toUnsignedString(work.immediate()));
    Collections.addAll(arguments, target);
    ask("send", arguments.toArray());
  }

  @Override
  public List<Result> poll(int count) {
    return poll(count, PATIENCE_SECONDS);
  }

  @Override
  public List<Result> poll(int count, int seconds) {
    String rows = ask("poll", "count", count, "seconds", seconds).get("completions");
    return Arrays.stream(rows.split(";"))
        .filter(row -> !row.isEmpty())
        .map(GuestEnd::result)
        .toList();
  }

  private static Result result(String row) {
    long[] fields = Arrays.stream(row.split(",")).mapToLong(Long::parseLong).toArray();
    int flags = (int) fields[6];
    return new Result(
        WcStatus.of((int) fields[0]),
        fields[0] == 0 ? (int) fields[1] : 0,
        fields[2],
        fields[3],
        (flags & 2) != 0 ? (int) fields[4] : 0,
        (int) fields[5],
        flags);
  }

  @Override
  public QpState state() {
    return QpState.values()[Integer.parseInt(ask("state").get("state"))];
  }

  @Override
  public void destroy() {
    if (!destroyed) {
      destroyed = true;
      ask("destroy");
    }
  }

  @Override
  public void close() {
    destroy();
    guest.ask("free", "buffer", NAME);
  }
}
