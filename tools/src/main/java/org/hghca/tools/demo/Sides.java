package org.hghca.tools.demo;

/**
 * Server and client, of which this process runs one or both.
 *
 * @param server the server
 * @param client the client
 * @param rendezvous of the two
 * @param journal of the steps in this process
 */
record Sides(Part<Side> server, Part<Side> client, Rendezvous rendezvous, Journal journal) {

  /** Both sides in this process. */
  static Sides of(Side server, Side client, Journal journal) {
    Rendezvous rendezvous = Rendezvous.WITHIN_ONE_PROCESS;
    return new Sides(local(server, rendezvous), local(client, rendezvous), rendezvous, journal);
  }

  /** The server in this process, the client in another. */
  static Sides ofServer(Side server, Rendezvous rendezvous, Journal journal) {
    Part<Side> client = new Part.Remote<>(Side.CLIENT, rendezvous);
    return new Sides(local(server, rendezvous), client, rendezvous, journal);
  }

  /** The client in this process, the server in another. */
  static Sides ofClient(Side client, Rendezvous rendezvous, Journal journal) {
    Part<Side> server = new Part.Remote<>(Side.SERVER, rendezvous);
    return new Sides(server, local(client, rendezvous), rendezvous, journal);
  }

  private static Part<Side> local(Side side, Rendezvous rendezvous) {
    return new Part.Local<>(side.role(), rendezvous, side);
  }

  /** Waits until both sides have run the steps before this point. */
  void barrier(String point) {
    rendezvous.barrier(point);
  }

  /** Waits until a check has passed on both sides, and records it. */
  void held(String check) {
    rendezvous.barrier(check);
    journal.held(check);
  }

  /** Closes the objects that the sides have made for an example. */
  void release() {
    client.run(Side::release);
    server.run(Side::release);
  }
}
