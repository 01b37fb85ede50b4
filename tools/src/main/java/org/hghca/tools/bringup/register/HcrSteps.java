package org.hghca.tools.bringup.register;

import java.util.List;
import org.hghca.abi.CommandStatus;
import org.hghca.abi.HardwareProfile;
import org.hghca.abi.Hcr;
import org.hghca.abi.HcrCommand;
import org.hghca.mailbox.HcrProbe;
import org.hghca.tools.bringup.board.Board;
import org.hghca.tools.bringup.step.Capability;
import org.hghca.tools.bringup.step.Observation;
import org.hghca.tools.bringup.step.Step;
import org.hghca.tools.bringup.step.StepFailedException;
import org.hghca.tools.raw.CardStoppedException;
import org.hghca.tools.raw.HcrPlaces;
import org.hghca.tools.raw.HcrSearch;
import org.hghca.tools.raw.RawHcr;

/** The command register: its position, its register values, and the commands without data. */
public final class HcrSteps {
  private static final String REGISTERS = "interface document, tables 3-1-2 to 3-1-4";
  private static final int TOKEN = 0x1234;
  private static final int UNKNOWN_OPCODE = 0xfff;

  private final Board board;

  public HcrSteps(Board board) {
    this.board = board;
  }

  public List<Step> steps() {
    return List.of(
        Step.of(
                "hcr.probe",
                "where the HCR is",
                REGISTERS + "; RTL PIO/rdma_hcr_space.v",
                "BAR0 as a logic analyser sees it: 32-bit reads of +18h must be answered",
                this::probe,
                Capability.BAR0,
                Capability.DECODING)
            .giving(Capability.REGISTERS),
        Step.of(
                "hcr.registers",
                "the HCR keeps what is written, little-endian",
                REGISTERS,
                "byte enables and byte order between the PCIe block and the HCR",
                this::registers,
                Capability.REGISTERS)
            .giving(Capability.ADDRESSES),
        Step.of(
                "hcr.nop",
                "NOP: the command unit is alive",
                "interface document, 3.2.7.1; RTL CEU.v: an unknown opcode, 02",
                "reset the card; if go stays set, the command unit has no clock or is in reset",
                this::nop,
                Capability.REGISTERS)
            .giving(Capability.COMMANDS),
        Step.of(
            "hcr.unknown",
            "an unknown opcode is refused",
            "interface document, table 3-1-4 (status)",
            "the decoder of the command unit",
            this::unknown,
            Capability.COMMANDS));
  }

  private void probe(Observation o) {
    o.expect("an HCR at BAR0 + 0h (RTL), or only when there is none at BAR0 + 80000h (document)");
    HcrPlaces places = places();
    HcrSearch search =
        HcrSearch.of(
            board.function(), places, board.tap()::allowWholeBar, probe -> o.saw(text(probe)));
    if (search.isSilent()) {
      throw new CardStoppedException(text(search.last()));
    }
    int base =
        search
            .offset()
            .orElseThrow(
                () ->
                    new StepFailedException(
                        "there is no HCR: wrong function, or BAR0 is not decoded"));
    o.check(
        !places.contradict(base),
        ("the HCR is at BAR0 + %xh, as on the makers' RTL, not at %xh: leave out --profile, as="
                + " and hcr=")
            .formatted(base, places.named().orElse(base)));
    board.hcrAt(base);
  }

  private static String text(HcrProbe probe) {
    return "BAR0 + %05xh %s".formatted(probe.base(), probe.describe());
  }

  private HcrPlaces places() {
    try {
      return HcrPlaces.of(board.locator(), board.named());
    } catch (IllegalArgumentException e) {
      throw new StepFailedException(e.getMessage());
    }
  }

  private void registers(Observation o) {
    o.expect("dwords 00h to 10h keep any value; of dword 14h the high half does");
    RawHcr hcr = board.hcr();
    for (int pattern : new int[] {0x01020304, 0xfedcba98, 0x55aa33cc}) {
      for (int at = Hcr.IN_PARAM_HIGH; at <= Hcr.OUT_PARAM_LOW; at += Integer.BYTES) {
        hcr.write(at, pattern + at);
      }
      for (int at = Hcr.IN_PARAM_HIGH; at <= Hcr.OUT_PARAM_LOW; at += Integer.BYTES) {
        int read = hcr.read(at);
        o.check(
            read == pattern + at,
            "dword %02xh was set to %08x, reads %08x".formatted(at, pattern + at, read));
      }
    }
    hcr.write(Hcr.TOKEN, 0x1234_5678);
    int token = hcr.read(Hcr.TOKEN);
    o.saw(
        "three patterns in five dwords; dword 14h was set to 12345678 and reads %08x"
            .formatted(token));
    o.check(token == 0x1234_0000, "dword 14h was set to 12345678 and reads %08x".formatted(token));
  }

  private void nop(Observation o) {
    boolean rtl =
        board.named().map(profile -> profile != HardwareProfile.S).orElse(!board.isDocumentHcr());
    // An event for the end of a command needs an event queue, which the RTL does not look for.
    int word = Hcr.command(HcrCommand.NOP.code(), rtl ? 5 : 0) | (rtl ? Hcr.EVENT : 0);
    int status = rtl ? CommandStatus.BAD_OP.code() : CommandStatus.OK.code();
    o.expect(
        "dword 18h ends as %08x; token kept; out_param cleared"
            .formatted(Hcr.completed(word, status)));
    int ended =
        board.hcr().give(word, 0, HcrCommand.NOP_IN_MODIFIER, 0x1122_3344_5566_7788L, TOKEN);
    o.gives(
        Capability.COMMANDS,
        ended == Hcr.completed(word, status) ? "" : "commands end, but not as NOP should");
    saw(o, ended);
    o.check(
        Hcr.status(ended) == status,
        "NOP ended with status %s".formatted(CommandStatus.describe(Hcr.status(ended))));
    o.check(
        ended == Hcr.completed(word, status),
        "op, op_modifier and E were not kept: dword 18h is %08x".formatted(ended));
    checkAfter(o);
  }

  private void unknown(Observation o) {
    int word = Hcr.command(UNKNOWN_OPCODE, 0);
    int expected = Hcr.completed(word, CommandStatus.BAD_OP.code());
    o.expect("dword 18h ends as %08x".formatted(expected));
    int ended = board.hcr().give(word, 0, 0, 0, TOKEN);
    saw(o, ended);
    o.check(ended == expected, "opcode fffh ended with dword 18h %08x".formatted(ended));
    checkAfter(o);
  }

  private void saw(Observation o, int ended) {
    o.saw(
        "dword 18h is %08x; token register %08x; out_param %08x %08x"
            .formatted(
                ended,
                board.hcr().read(Hcr.TOKEN),
                board.hcr().read(Hcr.OUT_PARAM_HIGH),
                board.hcr().read(Hcr.OUT_PARAM_LOW)));
  }

  private void checkAfter(Observation o) {
    RawHcr hcr = board.hcr();
    int token = hcr.read(Hcr.TOKEN);
    o.check(token == Hcr.tokenRegister(TOKEN), "the token was not kept: %08x".formatted(token));
    o.check(
        (hcr.read(Hcr.OUT_PARAM_HIGH) | hcr.read(Hcr.OUT_PARAM_LOW)) == 0,
        "out_param was not cleared by the completion");
  }
}
