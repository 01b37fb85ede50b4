/**
 * All that a program needs: the verbs, the connection manager, sockets, the driver of the card and
 * the software HCA. A module that requires this one reads the first three, and has both providers
 * beside it in every image that it is linked into.
 */
module org.hghca {
  requires transitive org.hghca.cm;
  requires transitive org.hghca.sockets;
  requires transitive org.hghca.verbs;
  requires org.hghca.driver;
  requires org.hghca.virtio.driver;
  requires org.hghca.model;
}
