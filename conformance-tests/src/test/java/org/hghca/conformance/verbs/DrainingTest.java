package org.hghca.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import org.hghca.conformance.profile.Feature;
import org.hghca.conformance.profile.Needs;
import org.hghca.verbs.AddressHandle;
import org.hghca.verbs.AddressVector;
import org.hghca.verbs.QpAttributes;
import org.hghca.verbs.QpState;
import org.hghca.verbs.QpType;
import org.hghca.verbs.SendRequest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** State SQD of every type: sends are posted and wait, receives continue. */
@Tag("rc")
@Needs(Feature.SQD)
class DrainingTest {
  private static final int QKEY = 0x1111_1111;

  private static AddressHandle handle(Side from, Side to) {
    return from.pd.createAddressHandle(AddressVector.to(to.context.queryGid(1, 0), 0));
  }

  private static void send(Side from, Side to, AddressHandle handle, long wrId) {
    SendRequest request = from.send.wrId(wrId).send().to(handle, to.qp.number(), QKEY);
    from.qp.postSend(request.sge(from.buffer, 0, 8).signaled());
  }

  @ParameterizedTest
  @EnumSource
  void sendsWaitAndReceivesContinue(QpType type) {
    try (RcPair pair = new RcSetup().type(type).open();
        AddressHandle toRight = handle(pair.left, pair.right);
        AddressHandle toLeft = handle(pair.right, pair.left)) {
      pair.right.postReceive(1, 0, 100);
      pair.left.postReceive(2, 0, 100);
      pair.left.qp.modify(QpAttributes.to(QpState.SQD));
      send(pair.left, pair.right, toRight, 3);
      send(pair.right, pair.left, toLeft, 4);
      Wc received = pair.left.received();
      Side.assertSuccess(received);
      assertThat(received.wrId()).isEqualTo(2);
      Side.assertSuccess(pair.right.sent());
      pair.left.assertQuiet();
      pair.right.assertQuiet();
      assertThat(pair.left.qp.query().state()).isEqualTo(QpState.SQD);

      pair.left.qp.modify(QpAttributes.to(QpState.SQD).pkeyIndex(0));
      pair.left.assertQuiet();
      pair.left.qp.modify(QpAttributes.to(QpState.RTS));
      Wc sent = pair.left.sent();
      Side.assertSuccess(sent);
      assertThat(sent.wrId()).isEqualTo(3);
      Side.assertSuccess(pair.right.received());
      assertThat(pair.left.qp.query().state()).isEqualTo(QpState.RTS);
    }
  }
}
