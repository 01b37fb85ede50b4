/** The driver of the JingZhao (HanGu) HCA, beneath the verbs. */
@SuppressWarnings("module") // those that a package is exported to are not there when it is compiled
module org.hghca.driver {
  requires transitive org.hghca.abi;
  requires transitive org.hghca.icm;
  requires transitive org.hghca.verbs;
  requires org.hghca.log;
  requires org.hghca.mailbox;
  requires org.hghca.provider;
  requires org.hghca.uar;
  requires org.hghca.vfio;
  requires org.slf4j;
  requires jdk.jfr;

  exports org.hghca.driver;
  exports org.hghca.driver.trace to
      org.hghca.tools;

  provides org.hghca.provider.DeviceDriver with
      org.hghca.driver.provider.HghcaDriver;
}
