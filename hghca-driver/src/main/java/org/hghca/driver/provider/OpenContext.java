package org.hghca.driver.provider;

import org.hghca.driver.CardInformation;
import org.hghca.driver.HghcaContext;
import org.hghca.driver.PsnUse;
import org.hghca.driver.RetiredNumbers;
import org.hghca.driver.card.Card;
import org.hghca.driver.object.DeviceContext;
import org.hghca.driver.object.FamilyCounts;
import org.hghca.driver.object.HghcaDevice;
import org.hghca.verbs.RdmaDevice;

/** A context of a card, with what the verbs do not report. */
final class OpenContext extends DeviceContext implements HghcaContext {
  private final HghcaDevice device;

  /**
   * Opens a context.
   *
   * @param onClose lets go of the device
   */
  OpenContext(RdmaDevice name, HghcaDevice device, Runnable onClose) {
    super(name, device, onClose);
    this.device = device;
  }

  @Override
  public CardInformation card() {
    check();
    Card card = device.card();
    FamilyCounts counts = device.counts();
    return new CardInformation(
        card.limits().profile().name(),
        card.hcrBase(),
        card.adapter().boardId(),
        card.limits().device(),
        new RetiredNumbers(
            device.qpNumbers().retired(),
            device.cqNumbers().retired(),
            counts.lateCompletions(),
            counts.endedUnderTraffic()),
        new PsnUse(
            counts.psnsLeft(),
            counts.carriedWraps(),
            counts.carryingReads(),
            counts.endedAtLastPsn()),
        card.icm().usage());
  }
}
