/** The card's command layer: HCR, mailboxes, one typed method for each command. */
module org.hghca.mailbox {
  requires transitive org.hghca.abi;
  requires transitive org.hghca.vfio;
  requires org.slf4j;
  requires jdk.jfr;

  exports org.hghca.mailbox;
}
