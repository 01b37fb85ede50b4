package org.hghca.driver.trace;

import org.hghca.abi.HardwareProfile;
import org.hghca.vfio.trace.DeviceTrace;
import org.hghca.vfio.trace.TraceKind;
import org.hghca.vfio.trace.TraceRecord;
import org.hghca.vfio.trace.TraceText;

/** A card in its trace: which profile it is driven as, and where its HCR is. */
public final class CardRecord {
  private static final TraceKind KIND = TraceKind.control("card", CardRecord::text);

  private CardRecord() {}

  /**
   * Records that the card was recognized.
   *
   * @param hcrBase offset of the HCR in BAR0
   */
  public static void record(DeviceTrace trace, HardwareProfile profile, long hcrBase) {
    trace.record(KIND, HardwareProfile.all().indexOf(profile), hcrBase, 0, 0);
  }

  private static TraceText text(TraceRecord record) {
    String profile = HardwareProfile.all().get((int) record.first()).name();
    return TraceText.of("function", "profile " + profile)
        .with("profile", profile)
        .withHex("hcr", record.second());
  }
}
