/**
 * A transport of JGroups over RDMA, {@link org.hghca.jgroups.RDMA}: clusters whose members exchange
 * messages by reliable connections. Independent of any card; devices come from the verbs.
 */
module org.hghca.jgroups {
  requires transitive org.jgroups;
  requires org.hghca.cm;

  exports org.hghca.jgroups;

  // JGroups sets the attributes of a protocol, and shows them in JMX, by reflection
  opens org.hghca.jgroups to
      org.jgroups;
}
