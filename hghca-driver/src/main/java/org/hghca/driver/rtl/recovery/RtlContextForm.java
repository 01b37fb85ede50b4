package org.hghca.driver.rtl.recovery;

import static org.hghca.abi.QueuePairContext.SERVICE_TYPE;
import static org.hghca.abi.QueuePairContext.STATE;

import org.hghca.abi.HardwareProfile;
import org.hghca.abi.HcrCommand;
import org.hghca.abi.QpcServiceType;
import org.hghca.abi.QpcState;
import org.hghca.abi.QueuePairContext;
import org.hghca.driver.state.ContextForm;

/**
 * Contexts as the RTL is given them: with the markers of {@link LivePsns}, and in ERR in place of
 * states in which a connection of the first RTL would answer its peer wrongly.
 *
 * <p>In INIT it acknowledges messages and drops them; in ERR it refuses them, so that a peer that
 * starts too early gets an error. Instead of going to RST it stays in ERR, and keeps its peer and
 * sequence numbers: then the peer gets an error. In RST, where all of these are 0, the answer would
 * go to queue pair 0 of the peer's card and stop that card.
 *
 * @param profile of the card
 */
public record RtlContextForm(HardwareProfile profile) implements ContextForm {
  @Override
  public QueuePairContext of(HcrCommand command, QueuePairContext last, QueuePairContext next) {
    boolean connected = profile.initAcknowledges() && next.get(SERVICE_TYPE) == QpcServiceType.RC;
    boolean ends = connected && command == HcrCommand.ERR2RST;
    QueuePairContext kept = ends ? last : next;
    QueuePairContext given =
        profile.misplacesSequenceNumbers() ? LivePsns.marked(kept) : kept.copy();
    boolean inError = ends || connected && next.get(STATE) == QpcState.INIT;
    return inError ? given.set(STATE, QpcState.ERR) : given;
  }
}
