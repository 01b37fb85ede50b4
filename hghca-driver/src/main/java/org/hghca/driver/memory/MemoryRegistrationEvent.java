package org.hghca.driver.memory;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** Flight Recorder's view of a registration of memory, an application's or a queue's. */
@Name("hghca.MemoryRegistration")
@Label("HCA Memory Registration")
@Category("HGHCA")
@Description("Page addresses and entry of a memory region, given to the card")
@SuppressWarnings("unused")
final class MemoryRegistrationEvent extends Event {
  @Label("Bytes")
  @DataAmount
  long bytes;

  @Label("Pages")
  long pages;

  @Label("Key")
  int lkey;
}
