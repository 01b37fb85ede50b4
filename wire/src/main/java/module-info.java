/** Packets of a RoCE network, and media that carry them between ports. Independent of any card. */
module org.hghca.wire {
  requires org.hghca.linux;
  requires org.hghca.log;
  requires org.slf4j;

  exports org.hghca.wire;
  exports org.hghca.wire.capture;
  exports org.hghca.wire.frame;
  exports org.hghca.wire.link;
}
