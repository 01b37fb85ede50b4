package org.hghca.abi;

import java.util.List;

/**
 * One transfer of the makers' first RTL in simulation: the bytes in memory, in address order, and
 * their meaning. QP 2 sends to QP 3; keys 20h (sender) and 21h (receiver).
 *
 * @param receiveWqe empty when the transfer consumes no receive
 * @param remoteAddress 0 for SEND
 * @param inline the message in hex, empty when it has data units
 * @param receiveCqe empty when there is none
 * @param bthOpcode of the receive CQE
 */
record GoldenTransfer(
    String name,
    String receiveWqe,
    List<Sge> receiveSges,
    String sendWqe,
    long doorbell,
    int size16,
    int opcode,
    int immediate,
    long remoteAddress,
    List<Sge> sendSges,
    String inline,
    String sendCqe,
    String receiveCqe,
    int bytes,
    int bthOpcode) {

  record Sge(int bytes, int lkey, long address) {}

  private static final String NO_IMM = "00000000000000000000000000000000";
  private static final String RECEIVE = "01000000000000000000000000000000";
  private static final String END = "00000000000000000000000000000000";
  private static final String SEND_CQE = "02000000000000001400000000002200";
  private static final String RECEIVE_CQE = "03000000000000000200000000002200";

  @Override
  public String toString() {
    return name;
  }

  static List<GoldenTransfer> all() {
    return List.of(
        send(
            "SEND 64",
            RECEIVE + "001000002100000000000000007e0000" + END,
            List.of(to(4096, 0x7e0000000000L)),
            NO_IMM + "400000002000000000000000007f0000",
            0x000002020000000aL,
            List.of(from(64, 0x7f0000000000L)),
            SEND_CQE + "0000000040000000000000000a010000",
            RECEIVE_CQE + "00000000400000000000000004000000",
            64,
            0x04),
        new GoldenTransfer(
            "SEND_IMM 100",
            RECEIVE + "001000002100000000000000007e0000" + END,
            List.of(to(4096, 0x7e0000000000L)),
            "000000000000000000000000efbeadde" + "640000002000000000000000007f0000",
            0x000002020000000bL,
            2,
            0x0b,
            0xdeadbeef,
            0,
            List.of(from(100, 0x7f0000000000L)),
            "",
            SEND_CQE + "0000000064000000000000000b010000",
            RECEIVE_CQE + "00000000640000000000000005000000",
            100,
            0x05),
        send(
            "SEND 1",
            RECEIVE + "001000002100000000000000007e0000" + END,
            List.of(to(4096, 0x7e0000000000L)),
            NO_IMM + "010000002000000000000000007f0000",
            0x000002020000000aL,
            List.of(from(1, 0x7f0000000000L)),
            SEND_CQE + "0000000001000000000000000a010000",
            RECEIVE_CQE + "00000000010000000000000004000000",
            1,
            0x04),
        send(
            "SEND 4096, MTU 4096",
            RECEIVE + "002000002100000000000000007e0000" + END,
            List.of(to(8192, 0x7e0000000000L)),
            NO_IMM + "001000002000000000000000007f0000",
            0x000002020000000aL,
            List.of(from(4096, 0x7f0000000000L)),
            SEND_CQE + "0000000000100000000000000a010000",
            RECEIVE_CQE + "00000000001000000000000004000000",
            4096,
            0x04),
        send(
            "SEND 6000, MTU 1024",
            RECEIVE + "002000002100000000000000007e0000" + END,
            List.of(to(8192, 0x7e0000000000L)),
            NO_IMM + "701700002000000000000000007f0000",
            0x000002020000000aL,
            List.of(from(6000, 0x7f0000000000L)),
            SEND_CQE + "0000000070170000000000000a010000",
            RECEIVE_CQE + "00000000701700000000000002000000",
            6000,
            0x02),
        send(
            "SEND 5000, MTU 4096, unaligned",
            RECEIVE + "002000002100000005000000007e0000" + END,
            List.of(to(8192, 0x7e0000000005L)),
            NO_IMM + "881300002000000023010000007f0000",
            0x000002020000000aL,
            List.of(from(5000, 0x7f0000000123L)),
            SEND_CQE + "0000000088130000000000000a010000",
            RECEIVE_CQE + "00000000881300000000000002000000",
            5000,
            0x02),
        oneSided(
            "RDMA_WRITE 300",
            NO_IMM + "40000000007e00002100000000000000" + "2c0100002000000000000000007f0000",
            0x0000020300000008L,
            0x08,
            0x7e0000000040L,
            List.of(from(300, 0x7f0000000000L)),
            SEND_CQE + "000000002c0100000000000008010000",
            300),
        oneSided(
            "RDMA_WRITE 9000, MTU 1024, across pages",
            NO_IMM + "e80f0000007e00002100000000000000" + "2823000020000000f00f0000007f0000",
            0x0000020300000008L,
            0x08,
            0x7e0000000fe8L,
            List.of(from(9000, 0x7f0000000ff0L)),
            SEND_CQE + "00000000282300000000000008010000",
            9000),
        new GoldenTransfer(
            "RDMA_WRITE_IMM 200",
            RECEIVE + "001000002100000000000000007e0000" + END,
            List.of(to(4096, 0x7e0000000000L)),
            "00000000000000000000000044332211"
                + "40000000007e00002100000000000000"
                + "c80000002000000000000000007f0000",
            0x0000020300000009L,
            3,
            0x09,
            0x11223344,
            0x7e0000000040L,
            List.of(from(200, 0x7f0000000000L)),
            "",
            SEND_CQE + "00000000c80000000000000009010000",
            RECEIVE_CQE + "00000000c8000000000000000b000000",
            200,
            0x0b),
        oneSided(
            "RDMA_READ 64",
            NO_IMM + "00000000007e00002100000000000000" + "400000002000000000000000007f0000",
            0x0000020300000010L,
            0x10,
            0x7e0000000000L,
            List.of(from(64, 0x7f0000000000L)),
            SEND_CQE + "00000000400000000000000010010000",
            64),
        oneSided(
            "RDMA_READ 5000, MTU 1024",
            NO_IMM + "00010000007e00002100000000000000" + "881300002000000080000000007f0000",
            0x0000020300000010L,
            0x10,
            0x7e0000000100L,
            List.of(from(5000, 0x7f0000000080L)),
            SEND_CQE + "00000000881300000000000010010000",
            5000),
        inline(
            "SEND inline 12",
            NO_IMM + "0c000080030a11181f262d343b424950",
            0x000002020000000aL,
            2,
            "030a11181f262d343b424950",
            SEND_CQE + "000000000c000000000000000a010000",
            RECEIVE_CQE + "000000000c0000000000000004000000",
            12),
        inline(
            "SEND inline 28",
            NO_IMM + "1c000080030a11181f262d343b424950" + "575e656c737a81888f969da4abb2b9c0",
            0x000002030000000aL,
            3,
            "030a11181f262d343b424950575e656c737a81888f969da4abb2b9c0",
            SEND_CQE + "000000001c000000000000000a010000",
            RECEIVE_CQE + "000000001c0000000000000004000000",
            28),
        send(
            "SEND 70 from 40 + 30",
            RECEIVE + "001000002100000000000000007e0000" + END,
            List.of(to(4096, 0x7e0000000000L)),
            NO_IMM + "280000002000000000000000007f0000" + "1e0000002000000028000000007f0000",
            0x000002030000000aL,
            List.of(from(40, 0x7f0000000000L), from(30, 0x7f0000000028L)),
            SEND_CQE + "0000000046000000000000000a010000",
            RECEIVE_CQE + "00000000460000000000000004000000",
            70,
            0x04),
        send(
            "SEND 200 into 50 + 300",
            RECEIVE + "320000002100000000000000007e0000" + "2c0100002100000000100000007e0000" + END,
            List.of(to(50, 0x7e0000000000L), to(300, 0x7e0000001000L)),
            NO_IMM + "c80000002000000000000000007f0000",
            0x000002020000000aL,
            List.of(from(200, 0x7f0000000000L)),
            SEND_CQE + "00000000c8000000000000000a010000",
            RECEIVE_CQE + "00000000c80000000000000004000000",
            200,
            0x04));
  }

  private static Sge from(int bytes, long address) {
    return new Sge(bytes, 0x20, address);
  }

  private static Sge to(int bytes, long address) {
    return new Sge(bytes, 0x21, address);
  }

  private static GoldenTransfer send(
      String name,
      String receiveWqe,
      List<Sge> receiveSges,
      String sendWqe,
      long doorbell,
      List<Sge> sges,
      String sendCqe,
      String receiveCqe,
      int bytes,
      int bthOpcode) {
    return new GoldenTransfer(
        name,
        receiveWqe,
        receiveSges,
        sendWqe,
        doorbell,
        1 + sges.size(),
        0x0a,
        0,
        0,
        sges,
        "",
        sendCqe,
        receiveCqe,
        bytes,
        bthOpcode);
  }

  private static GoldenTransfer inline(
      String name,
      String sendWqe,
      long doorbell,
      int size16,
      String data,
      String sendCqe,
      String receiveCqe,
      int bytes) {
    return new GoldenTransfer(
        name,
        RECEIVE + "001000002100000000000000007e0000" + END,
        List.of(to(4096, 0x7e0000000000L)),
        sendWqe,
        doorbell,
        size16,
        0x0a,
        0,
        0,
        List.of(),
        data,
        sendCqe,
        receiveCqe,
        bytes,
        0x04);
  }

  private static GoldenTransfer oneSided(
      String name,
      String sendWqe,
      long doorbell,
      int opcode,
      long remoteAddress,
      List<Sge> sges,
      String sendCqe,
      int bytes) {
    return new GoldenTransfer(
        name,
        "",
        List.of(),
        sendWqe,
        doorbell,
        3,
        opcode,
        0,
        remoteAddress,
        sges,
        "",
        sendCqe,
        "",
        bytes,
        0);
  }
}
