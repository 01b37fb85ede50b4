package org.hghca.conformance.table;

/** The importance of a case of the verbs' behaviour, in the order of the table. */
public enum Tier {
  REQUIRED("Tier 1: what every device must do"),
  IF_SUPPORTED("Tier 2: what a device does, or refuses with EOPNOTSUPP"),
  CONTRACT("The verbs' contract: what rdma-core's tests do not ask"),
  NOT_HERE("Tier 3: what is not for this device");

  private final String title;

  Tier(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }
}
