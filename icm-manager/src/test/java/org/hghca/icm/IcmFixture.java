package org.hghca.icm;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.HexFormat;
import java.util.function.LongUnaryOperator;
import org.hghca.abi.DeviceLimits;
import org.hghca.abi.HardwareProfile;
import org.hghca.mailbox.CommandInterface;

/** A card after INIT_HCA, and the manager of its ICM. */
final class IcmFixture {
  /** The answer of the makers' first RTL to QUERY_DEV_LIM. */
  private static final String DEV_LIM =
      "0100000000000000000d000d0e0d050e0c000001000800000100008000400040"
          + "005000f1000c0000001002000010020012345678876500000000000000000000";

  final FakeCard card;
  final CommandInterface commands;
  final IcmManager icm;

  private IcmFixture(FakeCard card, CommandInterface commands, IcmManager icm) {
    this.card = card;
    this.commands = commands;
    this.icm = icm;
  }

  /** The answer of the second RTL differs only in the numbers of QPs and CQs: 2^8 of each. */
  static DeviceLimits limits(HardwareProfile profile) {
    byte[] bytes = HexFormat.of().parseHex(DEV_LIM);
    if (profile == HardwareProfile.R2) {
      bytes[0x0c] = 8;
      bytes[0x0d] = 8;
    }
    return DeviceLimits.decode(MemorySegment.ofArray(bytes));
  }

  static IcmManager layoutOnly(HardwareProfile profile) {
    return inactive(profile, LongUnaryOperator.identity()).icm;
  }

  static IcmFixture inactive(HardwareProfile profile, LongUnaryOperator place) {
    FakeCard card = new FakeCard(profile.hcrBase(), place);
    CommandInterface commands = CommandInterface.open(card, profile, Duration.ofMillis(50));
    return new IcmFixture(
        card, commands, IcmManager.create(card, commands, profile, limits(profile)));
  }

  static IcmFixture active(HardwareProfile profile, LongUnaryOperator place) {
    IcmFixture fixture = inactive(profile, place);
    fixture.commands.initHca(fixture.icm.initHca());
    fixture.icm.activate();
    return fixture;
  }

  /** The interface document's card, with DMA memory that is contiguous within an allocation. */
  static IcmFixture active() {
    return active(HardwareProfile.S, LongUnaryOperator.identity());
  }

  /** Pages of DMA memory without the one mailbox that INIT_HCA allocated. */
  int icmPages() {
    return card.pages() - 1;
  }
}
