package org.hghca.mailbox;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** Flight Recorder's view of one HCR command. */
@Name("hghca.Command")
@Label("HCA Command")
@Category("HGHCA")
@Description("One command of the HCR, from the first store to the status")
@SuppressWarnings("unused")
final class CommandEvent extends Event {
  @Label("Device")
  String device;

  @Label("Command")
  String command;

  @Label("Op Modifier")
  int opModifier;

  @Label("In Modifier")
  int inModifier;

  @Label("Immediate")
  @Description("in_param of a command without an inbox")
  long immediate;

  @Label("Inbox")
  String inbox;

  @Label("Outbox")
  String outbox;

  @Label("Status")
  @Description("The status code and its name, or why there is none")
  String status;
}
