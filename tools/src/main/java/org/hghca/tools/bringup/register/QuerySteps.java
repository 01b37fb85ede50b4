package org.hghca.tools.bringup.register;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.hghca.abi.AdapterInfo;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.PortInfo;
import org.hghca.tools.bringup.board.Board;
import org.hghca.tools.bringup.board.Target;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepFailedException;
import org.hghca.tools.raw.LimitFields;
import org.hghca.vfio.DmaMapping;

/** The first commands with DMA: the card's properties, and failing DMA. */
public final class QuerySteps {
  private static final byte[] R1_LIMITS =
      HexFormat.of()
          .parseHex(
              "0100000000000000000d000d0e0d050e0c000001000800000100008000400040"
                  + "005000f1000c0000001002000010020012345678876500000000000000000000");
  private static final byte[] ADAPTER =
      HexFormat.of().parseHex("0".repeat(48) + "0123456789abcdef");
  private static final byte[] PORT = HexFormat.of().parseHex("00010203" + "0".repeat(56));
  private static final int MAX_QPS_OFFSET = 0x0c;
  private static final byte R2_LOG = 8;
  private static final byte GUARD = (byte) 0xa5;
  private static final int TOKEN = 0xffff;

  private static final int NUMBER_BITS = 24;

  /** Of the first command with an answer: who looks late once does not see that it came late. */
  private static final int QUERIES = 4;

  /** How many times as long as the first answer was late each later one may be. */
  private static final int SETTLING = 4;

  private static final Duration LEAST_SETTLING = Duration.ofMillis(20);

  private final Board board;

  public QuerySteps(Board board) {
    this.board = board;
  }

  public List<Step> steps() {
    return List.of(
        Step.of(
                "dma.first",
                "QUERY_DEV_LIM: the first DMA, nothing beyond its 64 bytes, and in time",
                "interface document, 3.2.1.1, table 3-2-3; RTL INC/ceu_def_h.vh",
                "bus mastering, the DMA engine's address width, the byte order of the mailbox",
                this::limits,
                Capability.ADDRESSES,
                Capability.COMMANDS)
            .giving(Capability.MAILBOXES),
        Step.of(
                "profile",
                "which profile the card has",
                "interface document, table 3-1-2; RTL INC/ceu_def_h.vh (log2 of QPs and CQs)",
                "name it with --profile when the answer was altered on purpose",
                this::profile,
                Capability.MAILBOXES)
            .giving(Capability.PROFILE),
        Step.of(
                "cmd.dev-lim",
                "the answer of QUERY_DEV_LIM, byte by byte",
                "interface document, tables 3-2-3 and 3-2-4; RTL INC/ceu_def_h.vh",
                "the parameters of the command unit in the bitstream",
                this::limitBytes,
                Capability.MAILBOXES,
                Capability.PROFILE)
            .giving(Capability.LIMITS, Capability.ANSWERS),
        Step.of(
            "cmd.adapter",
            "QUERY_ADAPTER",
            "interface document, 3.2.1.2, table 3-2-6; RTL INC/ceu_def_h.vh",
            "the parameters of the command unit in the bitstream",
            this::adapter,
            Capability.MAILBOXES,
            Capability.PROFILE),
        Step.of(
            "cmd.mad-ifc",
            "MAD_IFC",
            "in the table of commands only (3-2-1); RTL CEU/acc_local.v",
            "the parameters of the command unit in the bitstream",
            this::port,
            Capability.MAILBOXES,
            Capability.PROFILE),
        Step.of(
            "cmd.bad-param",
            "commands without the mailbox that they need are refused",
            "interface document, table 3-1-4 (status); RTL CEU.v",
            "the checks of the command unit",
            this::badParameters,
            Capability.ADDRESSES,
            Capability.PROFILE),
        Step.of(
            "dma.fault",
            "DMA to unmapped memory is refused, and the card survives",
            "PCI Express Base Specification, address translation; IOMMU of the platform",
            "switch the IOMMU on: without it a stray address hits other memory",
            this::fault,
            Capability.MAILBOXES,
            Capability.PROFILE));
  }

  /**
   * The result of a query command.
   *
   * @param late how long after the end of the command the mailbox had it
   */
  private record Answer(int word, byte[] mailbox, Duration late) {}

  /** Gives a query command, with a mailbox of guard bytes. */
  private Answer ask(HcrCommand command, int opModifier) {
    return ask(command, opModifier, Duration.ZERO);
  }

  /** The same, and waits so long for an answer that is not there with the end of the command. */
  private Answer ask(HcrCommand command, int opModifier, Duration wait) {
    try (DmaMapping page = board.function().allocate(DmaMapping.PAGE_SIZE)) {
      page.segment().fill(GUARD);
      int word =
          board.hcr().give(Hcr.command(command.code(), opModifier), 0, 0, page.iova(0), TOKEN);
      long ended = System.nanoTime();
      boolean late =
          !isWritten(page, 0)
              && Hcr.status(word) == CommandStatus.OK.code()
              && board.waits().until(() -> isWritten(page, 0), wait);
      if (late) { // the card may write it in parts
        board.waits().until(() -> isWritten(page, command.outboxSize() - 1), LEAST_SETTLING);
      }
      Duration lateness = late ? Duration.ofNanos(System.nanoTime() - ended) : Duration.ZERO;
      return new Answer(word, page.segment().toArray(ValueLayout.JAVA_BYTE), lateness);
    }
  }

  /** Gives a query command some times; of the answers, the one that came latest. */
  private Answer latest(HcrCommand command) {
    Answer latest = ask(command, 0, board.options().limit());
    for (int more = 1; more < QUERIES && isWhole(latest); more++) {
      Answer next = ask(command, 0, board.options().limit());
      latest = isWhole(next) && next.late().compareTo(latest.late()) <= 0 ? latest : next;
    }
    return latest;
  }

  private static boolean isWhole(Answer answer) {
    return Hcr.status(answer.word()) == CommandStatus.OK.code() && answer.mailbox()[0] != GUARD;
  }

  private static boolean isWritten(DmaMapping page, int offset) {
    return page.segment().get(ValueLayout.JAVA_BYTE, offset) != GUARD;
  }

  private static void checkStatus(Observation o, HcrCommand command, int word) {
    o.check(
        Hcr.status(word) == CommandStatus.OK.code(),
        "%s ended with status %s".formatted(command, CommandStatus.describe(Hcr.status(word))));
  }

  /** Gives the query, and checks the status and the bytes after the answer. */
  private byte[] answer(Observation o, HcrCommand command, int opModifier) {
    return answer(o, command, ask(command, opModifier));
  }

  private static byte[] answer(Observation o, HcrCommand command, Answer answer) {
    checkStatus(o, command, answer.word());
    byte[] all = answer.mailbox();
    byte[] guard = new byte[all.length - command.outboxSize()];
    Arrays.fill(guard, GUARD);
    byte[] behind = Arrays.copyOfRange(all, command.outboxSize(), all.length);
    o.check(
        Arrays.equals(guard, behind),
        "the card has written past the %d bytes of the answer".formatted(command.outboxSize()));
    return Arrays.copyOf(all, command.outboxSize());
  }

  private void limits(Observation o) {
    o.expect("status 00; 64 bytes written, the rest of the page untouched");
    board.function().configuration().busMaster(true);
    Answer answer = latest(HcrCommand.QUERY_DEV_LIM);
    byte[] bytes = answer(o, HcrCommand.QUERY_DEV_LIM, answer);
    o.saw("%s".formatted(HexFormat.of().formatHex(bytes)));
    byte[] untouched = new byte[bytes.length];
    Arrays.fill(untouched, GUARD);
    o.check(
        !Arrays.equals(untouched, bytes),
        "the command succeeded, but its answer did not reach memory");
    DeviceLimits limits = decode(bytes);
    o.fact("limits", LimitFields.of(limits));
    board.limits(limits, bytes);
    if (!answer.late().isZero()) {
      double millis = answer.late().toNanos() / 1e6;
      board.settle(answer.late().multipliedBy(SETTLING).plus(LEAST_SETTLING));
      o.gives(
          Capability.MAILBOXES,
          "answers come %.1f ms late: each command waits longer".formatted(millis));
      throw new StepFailedException(
          "the answer was not in memory with the end of the command, but %.1f ms later"
              .formatted(millis));
    }
  }

  private static DeviceLimits decode(byte[] bytes) {
    return DeviceLimits.decode(MemorySegment.ofArray(bytes));
  }

  private void profile(Observation o) {
    o.expect("HCR at 80000h: s; at 0h: r2 when log2 of QPs and CQs are 8 and 8, else r1");
    byte[] bytes = board.limitBytes();
    HardwareProfile found =
        board.isDocumentHcr()
            ? HardwareProfile.S
            : bytes[MAX_QPS_OFFSET] == R2_LOG && bytes[MAX_QPS_OFFSET + 1] == R2_LOG
                ? HardwareProfile.R2
                : HardwareProfile.R1;
    o.saw("the card looks like profile %s".formatted(found));
    Optional<HardwareProfile> named = board.named();
    if (named.isPresent() && named.get() != found) {
      o.warn("treated as profile %s, as requested".formatted(named.get()));
    }
    HardwareProfile used = named.orElse(found);
    o.fact("profile", used.name());
    o.fact("profile_found", board.profileFound());
    board.recognized(used);
  }

  private void limitBytes(Observation o) {
    byte[] bytes = board.limitBytes();
    DeviceLimits limits = board.limits();
    o.saw(
        "%,d QPs, %,d CQs, %d EQs, %,d MPTs, %,d PDs; QPC %d, CQC %d, EQC %d, MPT %d bytes"
            .formatted(
                limits.maxQps(),
                limits.maxCqs(),
                limits.maxEqs(),
                limits.maxMpts(),
                limits.maxPds(),
                limits.qpcEntrySize(),
                limits.cqcEntrySize(),
                limits.eqcEntrySize(),
                limits.mptEntrySize()));
    if (board.isRtl()) {
      byte[] expected = R1_LIMITS.clone();
      if (board.profile() == HardwareProfile.R2) {
        expected[MAX_QPS_OFFSET] = R2_LOG;
        expected[MAX_QPS_OFFSET + 1] = R2_LOG;
      }
      o.expect("exactly the bytes of the RTL");
      if (!Arrays.equals(expected, bytes)) {
        board.limits(decode(expected), bytes);
        o.gives(Capability.LIMITS, "the constants of the RTL stand for the answer");
      }
      o.compare("DEV_LIM", expected, bytes);
    } else {
      o.expect("reserved bits 0, possible sizes; the document names no values");
      byte[] expected = encoded(limits);
      if (!Arrays.equals(expected, bytes) && isPlausible(o, limits)) {
        o.gives(Capability.LIMITS, "limits of an answer with wrong bits, which are possible");
      }
      o.compare("DEV_LIM", expected, bytes);
      plausible(o, limits);
    }
  }

  /** The limits with all reserved bits zero. */
  private static byte[] encoded(DeviceLimits limits) {
    byte[] mailbox = new byte[DeviceLimits.LAYOUT.size()];
    limits.encode(MemorySegment.ofArray(mailbox));
    return mailbox;
  }

  private static boolean isPlausible(Observation o, DeviceLimits limits) {
    try {
      plausible(o, limits);
      return true;
    } catch (StepFailedException e) {
      return false;
    }
  }

  private static void plausible(Observation o, DeviceLimits limits) {
    checkNumbers(o, "queue pairs", limits.maxQpsLog());
    checkNumbers(o, "completion queues", limits.maxCqsLog());
    checkNumbers(o, "event queues", limits.maxEqsLog());
    checkNumbers(o, "memory keys", limits.maxMptsLog());
    checkNumbers(o, "protection domains", limits.maxPdsLog());
    o.check(limits.maxQps() > limits.reservedQps(), "all queue pairs are reserved");
    o.check(limits.maxCqs() > limits.reservedCqs(), "all completion queues are reserved");
    o.check(limits.maxMpts() > limits.reservedLkeys(), "all memory keys are reserved");
    o.check(
        limits.minPageSize() == 4096,
        "the smallest page has %d bytes".formatted(limits.minPageSize()));
    o.check(limits.ports() >= 1, "there is no port");
    o.check(
        limits.maxMtu() >= 1 && limits.maxMtu() <= 5,
        "MTU code %d does not exist".formatted(limits.maxMtu()));
    o.check(limits.maxSg() >= 1 && limits.maxSgRq() >= 1, "no scatter/gather element is possible");
    o.check(
        limits.maxDescSize() >= 64,
        "a WQE of %d bytes is too short".formatted(limits.maxDescSize()));
    for (int size :
        new int[] {
          limits.qpcEntrySize(), limits.cqcEntrySize(), limits.eqcEntrySize(), limits.mptEntrySize()
        }) {
      o.check(
          size >= 32 && Integer.bitCount(size) == 1, "a table entry of %d bytes".formatted(size));
    }
  }

  /** Every number of an object has 24 bits in a context or a completion. */
  private static void checkNumbers(Observation o, String what, int log) {
    o.check(log <= NUMBER_BITS, "2^%d %s: numbers have %d bits".formatted(log, what, NUMBER_BITS));
  }

  private void adapter(Observation o) {
    byte[] bytes = answer(o, HcrCommand.QUERY_ADAPTER, 0);
    AdapterInfo info = AdapterInfo.decode(MemorySegment.ofArray(bytes));
    o.saw("board %016x".formatted(info.boardId()));
    if (board.isRtl()) {
      o.expect("exactly the bytes of the RTL");
      o.compare("ADAPTER", ADAPTER, bytes);
    } else {
      o.expect("zeros before the board id at 18h");
      byte[] expected = new byte[bytes.length];
      System.arraycopy(bytes, 0x18, expected, 0x18, Long.BYTES);
      o.compare("ADAPTER", expected, bytes);
    }
  }

  private void port(Observation o) {
    Answer answer = ask(HcrCommand.MAD_IFC, 1);
    if (!board.isRtl() && Hcr.status(answer.word()) != CommandStatus.OK.code()) {
      o.expect("an answer of 32 bytes, or a refusal: the document does not describe it");
      o.saw("status %s".formatted(CommandStatus.describe(Hcr.status(answer.word()))));
      return;
    }
    byte[] bytes = answer(o, HcrCommand.MAD_IFC, 1);
    PortInfo info = PortInfo.decode(MemorySegment.ofArray(bytes));
    o.saw(
        "LID %d, port state %d, physical state %d"
            .formatted(info.lid(), info.portState(), info.physicalState()));
    if (board.isRtl()) {
      o.expect("exactly the constant of the RTL");
      o.compare("MAD_IFC", PORT, bytes);
    } else {
      o.expect("an answer of 32 bytes");
    }
  }

  private void badParameters(Observation o) {
    o.expect("status 03 for each");
    refused(o, HcrCommand.QUERY_DEV_LIM);
    refused(o, HcrCommand.QUERY_ADAPTER);
    refused(o, HcrCommand.INIT_HCA);
    refused(o, HcrCommand.MAD_IFC);
  }

  /** Gives a command without any mailbox. */
  private void refused(Observation o, HcrCommand command) {
    int word = board.hcr().give(Hcr.command(command.code(), 0), 0, 0, 0, TOKEN);
    o.saw("%s without mailbox: %s".formatted(command, CommandStatus.describe(Hcr.status(word))));
    o.check(
        Hcr.status(word) == CommandStatus.BAD_PARAM.code(),
        "%s without a mailbox ended with status %s"
            .formatted(command, CommandStatus.describe(Hcr.status(word))));
  }

  private void fault(Observation o) {
    if (!board.isTranslated()) {
      throw Observation.notJudged("there is no IOMMU: an unmapped address may be memory");
    }
    o.expect("the write is refused by the host, and the next command answers");
    long gone;
    try (DmaMapping page = board.function().allocate(DmaMapping.PAGE_SIZE)) {
      gone = page.iova(0);
    }
    long before = board.function().dmaFaultCount();
    int word = board.hcr().give(Hcr.command(HcrCommand.QUERY_ADAPTER.code(), 0), 0, 0, gone, TOKEN);
    long faults = board.function().dmaFaultCount() - before;
    o.saw(
        "status %s; %d refused accesses%s"
            .formatted(
                CommandStatus.describe(Hcr.status(word)),
                faults,
                faults == 0 ? "" : ", the last one: " + board.function().dmaFaults().getLast()));
    board.expectFaults();
    byte[] bytes = answer(o, HcrCommand.QUERY_ADAPTER, 0);
    o.saw("afterwards QUERY_ADAPTER answers %s".formatted(HexFormat.of().formatHex(bytes)));
    // A card that reports an error has met the refusal, which a server of the device may keep to
    // itself.
    if (faults == 0
        && (Hcr.status(word) == CommandStatus.OK.code() || !board.function().reportsDmaFaults())) {
      throw Observation.notJudged(Target.UNREPORTED);
    }
  }
}
