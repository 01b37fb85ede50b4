package org.hghca.sockets.stream;

/** A sum of what streams have moved. Not thread-safe. */
final class Traffic {
  private long bytesSent;
  private long bytesReceived;
  private long messagesSent;
  private long messagesReceived;

  void add(Outgoing out, Incoming in) {
    bytesSent += out.bytes();
    messagesSent += out.messages();
    bytesReceived += in.bytes();
    messagesReceived += in.messages();
  }

  Traffic copy() {
    Traffic copy = new Traffic();
    copy.bytesSent = bytesSent;
    copy.bytesReceived = bytesReceived;
    copy.messagesSent = messagesSent;
    copy.messagesReceived = messagesReceived;
    return copy;
  }

  StreamCounters counters(long connected, long accepted, long open) {
    return new StreamCounters(
        connected, accepted, open, bytesSent, bytesReceived, messagesSent, messagesReceived);
  }
}
