/** Interconnect context memory: layout, mapping on demand, reclaim. */
module org.hghca.icm {
  requires transitive org.hghca.abi;
  requires transitive org.hghca.vfio;
  requires transitive org.hghca.mailbox;
  requires org.hghca.log;
  requires org.slf4j;

  exports org.hghca.icm;
}
