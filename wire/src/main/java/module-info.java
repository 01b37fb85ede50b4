/**
 * What travels between ports: packets of a RoCE network, and media that carry them. Knows no card.
 */
module org.hghca.wire {
  exports org.hghca.wire;
  exports org.hghca.wire.frame;
}
