package org.hghca.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class PathMigrationTest {
  /** IPv4 as primary path, IPv6 as alternate one, armed; the dwords from 00h on. */
  private static final String ARMED =
      "00000000 a4512345 30001000 a0000000 00000000 00000000 00000000 01000000"
          + "00800000 70010040 31122222 00000000 00000000 0000ffff 0a000002 56781111"
          + "02000000 02123456 0a000001 0a000002 02abcdef 9abc0521 00000000 00000000"
          + "00000000".repeat(16)
          + "1c000000 00000000 00000000 fd000000 00000000 00000000 00000002 00000000";

  private static final String MIGRATED =
      "00000000 31122222 30000000 a0000000 00000000 00000000 00000000 01000000"
          + "00800000 70050021 a4512345 fd000000 00000000 00000000 00000002 9abc1111"
          + "02000000 02abcdef 00000000 00000000 02123456 56780140 00000000 00000000"
          + "00000000".repeat(16)
          + "1c000000 00000000 00000000 00000000 00000000 0000ffff 0a000002 00000000";

  private static MemorySegment context(String hex) {
    return MemorySegment.ofArray(HexFormat.of().parseHex(hex.replace(" ", "")));
  }

  private static String hex(MemorySegment context) {
    return HexFormat.of().formatHex(context.toArray(ValueLayout.JAVA_BYTE));
  }

  @Test
  void migrationExchangesThePaths() {
    MemorySegment context = context(ARMED);
    assertThat(PathMigration.hasAlternate(context)).isTrue();
    PathMigration.migrate(context, 0);
    assertThat(hex(context)).isEqualTo(hex(context(MIGRATED)));
  }

  @Test
  void anotherMigrationIsTheWayBack() {
    MemorySegment context = context(MIGRATED);
    PathMigration.migrate(context, 0x0a00_0001);
    QueuePairContext.MIGRATION.set(context, PathMigration.ARMED);
    assertThat(hex(context)).isEqualTo(hex(context(ARMED)));
  }

  @Test
  void stateAndPathsAreCopiedAndNothingElse() {
    MemorySegment context = context(MIGRATED);
    QueuePairContext.QKEY.set(context, 0x1234);
    PathMigration.copy(context(ARMED), context);
    assertThat(QueuePairContext.QKEY.get(context)).isEqualTo(0x1234);
    QueuePairContext.QKEY.set(context, 0);
    assertThat(hex(context)).isEqualTo(hex(context(ARMED)));
  }

  @Test
  void aContextOfZerosHasNoAlternatePathAndHasMigrated() {
    QueuePairContext context = new QueuePairContext();
    assertThat(PathMigration.hasAlternate(context)).isFalse();
    assertThat(context.get(QueuePairContext.MIGRATION)).isEqualTo(PathMigration.MIGRATED);
  }
}
