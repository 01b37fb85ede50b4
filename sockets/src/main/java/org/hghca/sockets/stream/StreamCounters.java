package org.hghca.sockets.stream;

/**
 * What the streams of a device have done since it was opened.
 *
 * @param connected connections that this process began
 * @param accepted connections that its listeners took
 * @param open connections that are open now
 * @param bytesSent payload
 * @param bytesReceived payload
 * @param messagesSent messages that carried payload
 * @param messagesReceived messages that carried payload
 */
public record StreamCounters(
    long connected,
    long accepted,
    long open,
    long bytesSent,
    long bytesReceived,
    long messagesSent,
    long messagesReceived) {}
