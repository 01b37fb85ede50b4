/**
 * Connections by address: the counterpart of librdmacm. Independent of any card; devices come from
 * the verbs.
 */
module org.hghca.cm {
  requires transitive org.hghca.verbs;
  requires org.hghca.log;
  requires org.slf4j;

  exports org.hghca.cm;
}
