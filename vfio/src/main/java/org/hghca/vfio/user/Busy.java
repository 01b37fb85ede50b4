package org.hghca.vfio.user;

import org.hghca.linux.LinuxErrno;
import org.hghca.vfio.VfioException;
import org.hghca.vfio.VfioException.Reason;

/**
 * The reply to a client's {@code VERSION} while another client has the device: the error EBUSY, and
 * for a client that has announced {@link VersionText#BUSY} the process that has it, in a payload of
 * 4 bytes. Other clients get a header alone, as the protocol has it.
 */
final class Busy {
  private static final int PAYLOAD = 4;

  private Busy() {}

  /**
   * Replies to a client's first message, and hangs up.
   *
   * @param process that has the device, 0 if unknown
   */
  static void tell(UserChannel channel, int process) {
    try (channel;
        UserMessage message = new UserMessage(Conversation.MAX_PAYLOAD, 0)) {
      channel.beginHandshake(UserTimeouts.HANDSHAKE);
      if (channel.receive(message)) {
        boolean knows = process > 0 && understands(message);
        message.failure(message, LinuxErrno.EBUSY.number(), knows ? PAYLOAD : 0);
        if (knows) {
          message.putInt(0, process);
        }
        channel.send(message);
      }
    } catch (VfioException e) {
      // It has gone, or said nothing: there is nobody to tell.
    }
  }

  private static boolean understands(UserMessage version) {
    try {
      return UserCommand.VERSION.is(version.command())
          && version.payloadBytes() > UserStructures.Version.DATA
          && VersionText.of(version).isSet(VersionText.BUSY);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** What a client throws that got such a reply. */
  static VfioException failure(String name, UserMessage reply) {
    String by =
        reply.payloadBytes() == PAYLOAD
            ? "by PID %d: end that process, or let it close the device".formatted(reply.getInt(0))
            : "by another client: end it, or let it close the device";
    return new VfioException(Reason.BUSY, "%s is busy, %s".formatted(name, by));
  }
}
