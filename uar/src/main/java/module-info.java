/** UAR pages and doorbells. */
module org.hghca.uar {
  requires org.hghca.abi;
  requires transitive org.hghca.vfio;

  exports org.hghca.uar;
}
