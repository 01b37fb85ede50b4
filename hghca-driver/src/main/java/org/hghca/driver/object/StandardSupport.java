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
import org.hghca.driver.memory.KeyTable;
import org.hghca.driver.memory.WrapPages;
import org.hghca.driver.ring.ReceiveChecks;

/** Nothing: the card reports bad requests, takes all doorbells, times out and flushes itself. */
final class StandardSupport extends CardSupport {
  private final Card card;
  private final QpTable<QueuePairRings> rings;

  StandardSupport(Card card, QpTable<QueuePairRings> rings) {
    this.card = card;
    this.rings = rings;
  }

  @Override
  void open() {}

  @Override
  void start() {}

  @Override
  void stop() {}

  @Override
  void close() {}

  @Override
  void admit(KeyTable.Entry entry) {}

  @Override
  void withdraw(KeyTable.Entry entry) {}

  @Override
  int fillerKey() {
    return 0;
  }

  @Override
  OptionalLong psnsLeft() {
    return OptionalLong.empty();
  }

  @Override
  long carriedWraps() {
    return 0;
  }

  @Override
  long carryingReads() {
    return 0;
  }

  @Override
  Optional<WrapPages.Keys> wrapKeys(int pd) {
    return Optional.empty();
  }

  @Override
  ReceiveChecks receiveChecks(int pd, int bytesBefore) {
    return ReceiveChecks.NONE;
  }

  @Override
  CompletionParser parser(String queue, CompletionRing ring) {
    CompletionDecode decode = new CompletionDecode(card.limits().profile());
    return new StandardParser(queue, ring, rings, decode, card.health());
  }

  @Override
  RtlSupport rtl() {
    throw new IllegalStateException("the card does this itself");
  }
}
