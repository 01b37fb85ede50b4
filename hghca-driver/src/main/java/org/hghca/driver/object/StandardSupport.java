package org.hghca.driver.object;

import java.util.Optional;
import java.util.OptionalLong;
import org.hghca.driver.card.Card;
import org.hghca.driver.card.CompletionDecode;
import org.hghca.driver.completion.CompletionParser;
import org.hghca.driver.completion.CompletionRing;
import org.hghca.driver.completion.QpTable;
import org.hghca.driver.completion.QueuePairRings;
import org.hghca.driver.completion.StandardParser;
import org.hghca.driver.ring.ReceiveChecks;
import org.hghca.driver.rtl.RtlSupport;
import org.hghca.driver.rtl.WrapPages;
import org.hghca.driver.rtl.ring.KeyTable;

/** Nothing: the card reports bad requests, takes all doorbells, times out and flushes itself. */
final class StandardSupport extends CardSupport {
  private final Card card;
  private final QpTable<QueuePairRings> rings;

  StandardSupport(Card card, QpTable<QueuePairRings> rings) {
    this.card = card;
    this.rings = rings;
  }

  @Override
  public void open() {}

  @Override
  public void start() {}

  @Override
  public void stop() {}

  @Override
  public void close() {}

  @Override
  public void admit(KeyTable.Entry entry) {}

  @Override
  public void withdraw(KeyTable.Entry entry) {}

  @Override
  public int fillerKey() {
    return 0;
  }

  @Override
  public OptionalLong psnsLeft() {
    return OptionalLong.empty();
  }

  @Override
  public long carriedWraps() {
    return 0;
  }

  @Override
  public long carryingReads() {
    return 0;
  }

  @Override
  public Optional<WrapPages.Keys> wrapKeys(int pd) {
    return Optional.empty();
  }

  @Override
  public ReceiveChecks receiveChecks(int pd, int bytesBefore) {
    return ReceiveChecks.NONE;
  }

  @Override
  public CompletionParser parser(String queue, CompletionRing ring) {
    CompletionDecode decode = new CompletionDecode(card.limits().profile());
    return new StandardParser(queue, ring, rings, decode, card.health());
  }

  @Override
  public RtlSupport rtl() {
    throw new IllegalStateException("the card does this itself");
  }
}
