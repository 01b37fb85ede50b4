// Sockets and poll, and nothing of RDMA: in the guest, librspreload puts rsocket in their place.
//   echo PORT N             returns to N connections, one after another, what they send
//   echo PORT BYTES HOST    sends so many bytes, and verifies what comes back

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 30000, PATIENCE = 30000 };

static void check(int good, const char *what) {
  if (good) return;
  printf("%s: %s\n", what, strerror(errno));
  exit(1);
}

static unsigned char byte_at(long i) { return (i * 2654435761u) >> 24; }

// Waits until one of the events is there, or the peer has gone. The library's poll may return 0 before its time, where what
// has come is none of them; rstream asks again then, too.
static int ready(int fd, int events) {
  struct pollfd one = {.fd = fd, .events = events};
  int found;
  do {
    found = poll(&one, 1, PATIENCE);
  } while (found == 0);
  check(found == 1, "poll");
  return one.revents;
}

// Moves what can be moved now; 0 for nothing.
static long moved(long result, const char *what) {
  check(result >= 0 || errno == EAGAIN || errno == EWOULDBLOCK, what);
  return result < 0 ? 0 : result;
}

static void echo(int fd) {
  static unsigned char data[SIZE];
  long held = 0, sent = 0, total = 0;
  while (1) {
    int now = ready(fd, held ? POLLOUT : POLLIN);
    if (held == 0) {
      held = moved(recv(fd, data, SIZE, 0), "recv");
      if (held == 0 && now & POLLIN && recv(fd, data, 1, MSG_PEEK) == 0) break;
    }
    if (held > 0) sent += moved(send(fd, data + sent, held - sent, 0), "send");
    if (sent == held) total += held, held = sent = 0;
  }
  printf("%ld bytes returned\n", total);
}

static void ask(int fd, long bytes) {
  static unsigned char data[SIZE];
  long sent = 0, got = 0;
  while (got < bytes) {
    long length = bytes - sent < SIZE ? bytes - sent : SIZE;
    for (long i = 0; i < length; i++) data[i] = byte_at(sent + i);
    ready(fd, sent < bytes ? POLLIN | POLLOUT : POLLIN);
    if (length > 0) sent += moved(send(fd, data, length, 0), "send");
    length = moved(recv(fd, data, SIZE, 0), "recv");
    for (long i = 0; i < length; i++) check(data[i] == byte_at(got + i), "another byte came back");
    got += length;
  }
  printf("%ld bytes verified\n", got);
}

int main(int argc, char **argv) {
  check(argc > 2, "usage: echo PORT N|BYTES [HOST]");
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
  if (argc > 3) inet_aton(argv[3], &address.sin_addr);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (argc > 3) {
    check(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connect");
    check(fcntl(fd, F_SETFL, O_NONBLOCK) == 0, "fcntl");
    ask(fd, atol(argv[2]));
  } else {
    check(bind(fd, (struct sockaddr *)&address, sizeof address) == 0, "bind");
    check(listen(fd, 4) == 0, "listen");
    for (int i = atoi(argv[2]); i > 0; i--) {
      ready(fd, POLLIN);
      int peer = accept(fd, NULL, NULL);
      check(peer >= 0 && fcntl(peer, F_SETFL, O_NONBLOCK) == 0, "accept");
      echo(peer);
      close(peer);
    }
  }
  close(fd);
  return 0;
}
