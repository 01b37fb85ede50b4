package org.hghca.conformance.rtl;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.hghca.abi.Bar;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.conformance.abi.Vectors;
import org.hghca.model.card.Faults;
import org.hghca.model.rtl.RtlCard;
import org.hghca.model.rtl.r1.Defect;
import org.hghca.model.rtl.r1.R1Engine;
import org.hghca.wire.EthernetPort;
import org.hghca.wire.Medium;
import org.hghca.wire.Packet;
import org.hghca.wire.PacketOpcode;
import org.hghca.wire.PacketPool;

/** One card of a recording, with its memory and a log of the packets that it sends. */
final class ReplayedCard implements Medium {
  private static final int DWORD = 4;
  private static final long MEMORY = 0x130_0000;
  private static final int INBOX = 0x10_0000;
  private static final int OUTBOX = 0x11_0000;
  private static final int STATE_BYTE = 0x17;

  /** Data is at this address and above, queues and contexts are below. */
  static final long DATA = 0x110_0000;

  final FlatMemory memory = new FlatMemory(MEMORY);
  final RtlCard card;

  /** The first beats of requests and of responses, in the order in which they were sent. */
  final List<String> requests = new ArrayList<>();

  final List<String> answers = new ArrayList<>();
  private final EthernetPort port;
  private ReplayedCard peer = this;

  ReplayedCard(Set<Defect> defects, int number, PacketPool pool) {
    port = new EthernetPort(0x0200_0000_0001L + number, pool);
    card = R1Engine.card(port, new Faults(), defects);
    port.plug(this);
    card.attach(memory);
    card.busMaster(true);
    memory.bytes.asSlice(CompletionRings.FIRST, CompletionRings.LENGTH).fill((byte) 0xff);
  }

  /** Joins two cards; a single card receives its own packets. */
  static void join(ReplayedCard left, ReplayedCard right) {
    left.peer = right;
    right.peer = left;
  }

  @Override
  public boolean isUp() {
    return true;
  }

  @Override
  public void carry(EthernetPort from, Packet packet) {
    boolean answer = PacketOpcode.isResponse(packet.opcode & PacketOpcode.OPERATION_MASK);
    (answer ? answers : requests).add(Beats.of(packet).getFirst());
    packet.destinationMac = peer.port.mac();
    peer.port.deliver(packet);
  }

  /** Writes the registers of a recorded command; the card executes it in the next step. */
  void start(Map<?, ?> command) {
    String name = Vectors.text(command, "command");
    HcrCommand code = name.equals("MODIFY_QP") ? HcrCommand.RTR2RTS : HcrCommand.valueOf(name);
    if (command.get("inbox") != null) {
      put(INBOX, Vectors.text(command, "inbox"));
    }
    write(Hcr.IN_PARAM_HIGH, 0);
    write(Hcr.IN_PARAM_LOW, INBOX);
    write(Hcr.IN_MODIFIER, Vectors.number(Vectors.text(command, "in_modifier")));
    write(Hcr.OUT_PARAM_HIGH, 0);
    write(Hcr.OUT_PARAM_LOW, OUTBOX);
    write(Hcr.COMMAND, Hcr.command(code.code(), (Integer) command.get("op_mod")));
  }

  /** Checks the result of a command that was started and executed. */
  void check(Map<?, ?> command) {
    int dword = (int) card.read(Bar.BAR0, Hcr.COMMAND, DWORD);
    assertThat(Hcr.go(dword)).as("%s still runs", command).isFalse();
    assertThat(Hcr.status(dword))
        .as("%s", command)
        .isEqualTo(Vectors.number(Vectors.text(command, "status")));
    if (command.get("outbox") != null) {
      String outbox = Vectors.text(command, "outbox");
      assertThat(memory.hex(OUTBOX, outbox.length() / 2)).as("%s", command).isEqualTo(outbox);
    }
  }

  void run(Map<?, ?> command) {
    start(command);
    card.step(0);
    check(command);
  }

  /** The digit of a queue pair's image that has its state once there was traffic. */
  String queriedState(String qpn) {
    run(Map.of("command", "QUERY_QP", "op_mod", 0, "in_modifier", qpn, "status", "00"));
    return memory.hex(OUTBOX + STATE_BYTE, 1).substring(0, 1);
  }

  private void write(long offset, int value) {
    card.write(Bar.BAR0, offset, DWORD, Integer.toUnsignedLong(value));
  }

  void ringDoorbell(String doorbell) {
    card.write(Bar.BAR2, 0, Long.BYTES, Vectors.longNumber(doorbell));
  }

  void put(long address, String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    MemorySegment.copy(MemorySegment.ofArray(bytes), 0, memory.bytes, address, bytes.length);
  }

  /** Address, length and first 16 bytes of each data write, in order. */
  List<String> writes() {
    return memory.accesses.stream()
        .map(access -> access.split(" "))
        .filter(words -> words[0].equals("write") && Vectors.longNumber(words[1]) >= DATA)
        .map(words -> "%s %d %.32s".formatted(words[1], words[2].length() / 2, words[2]))
        .toList();
  }

  /** Address and length of the reads of WQEs, sorted. */
  List<String> queueReads() {
    return memory.accesses.stream()
        .map(access -> access.split(" "))
        .filter(words -> words[0].equals("read"))
        .filter(words -> Vectors.longNumber(words[1]) >= CompletionRings.QUEUES)
        .filter(words -> Vectors.longNumber(words[1]) < DATA)
        .map(words -> "%s %s".formatted(words[1], words[2]))
        .sorted()
        .toList();
  }

  /** Addresses of the recordings' queues. */
  static final class CompletionRings {
    static final long QUEUES = 0x100_0000;
    static final long FIRST = 0x100_8000;
    static final long LENGTH = 0x8000;
    private static final long BETWEEN = 0x2000;
    private static final int ENTRIES = 64;
    private static final int ENTRY = 32;

    private CompletionRings() {}

    /**
     * The entries of a ring that still have their initial bytes ff, from the first unwritten one
     * on.
     */
    static List<String> written(ReplayedCard card, int cqn) {
      List<String> entries = new ArrayList<>();
      long ring = FIRST + BETWEEN * (cqn - 1);
      for (int i = 0; i < ENTRIES; i++) {
        String entry = card.memory.hex(ring + (long) ENTRY * i, ENTRY);
        if (!entry.equals("ff".repeat(ENTRY))) {
          entries.add("slot %d: %s".formatted(i, entry));
        }
      }
      return entries;
    }

    /** All entries that were ever written to a ring, in order. */
    static List<String> writes(ReplayedCard card, int cqn) {
      long ring = FIRST + BETWEEN * (cqn - 1);
      List<String> entries = new ArrayList<>();
      for (String access : card.memory.accesses) {
        String[] words = access.split(" ");
        long at = words[0].equals("write") ? Vectors.longNumber(words[1]) - ring : -1;
        if (at >= 0 && at < (long) ENTRY * ENTRIES) {
          entries.add("slot %d: %s".formatted(at / ENTRY, words[2]));
        }
      }
      return entries;
    }
  }
}
