package org.hghca.conformance.interop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs of perftest with options: each program, and each option that both ends have. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ValueSource(
    strings = {
      "ib_write_bw -n 200 -s 4096 -t 16",
      "ib_write_bw -n 100 -s 512 -t 16 -c UC",
      "ib_write_bw -n 100 -s 4096 -t 8 -b",
      "ib_write_bw -n 100 -s 4096 -t 8 -q 3",
      "ib_write_bw -n 96 -s 64 -t 16 -l 8 -I 64 --report_gbits",
      "ib_write_bw -n 5 -t 4 -a",
      "ib_write_bw -s 4096 -t 8 -D 2",
      "ib_write_lat -n 100",
      "ib_write_lat -n 50 -c UC",
      "ib_send_bw -n 200 -s 4096 -t 16",
      "ib_send_bw -n 100 -s 1024 -t 8 -b",
      "ib_send_bw -n 100 -s 1024 -t 8 -e",
      "ib_send_bw -n 20 -t 8 -c UD -a",
      "ib_send_lat -n 100",
      "ib_send_lat -n 50 -c UC",
      "ib_send_lat -n 50 -c UD",
      "ib_read_bw -n 100 -s 4096 -t 8",
      "ib_read_lat -n 100",
      "ib_atomic_bw -n 100 -t 8",
      "ib_atomic_lat -n 100 -A CMP_AND_SWAP",
      "ib_write_bw -n 100 -s 4096 -t 8 -q 2 -b -R",
      "ib_send_bw -n 100 -s 1024 -t 8 -R -T 8",
      "ib_read_bw -n 50 -s 4096 -t 8 -R",
      "ib_atomic_bw -n 50 -t 8 -R",
      "ib_write_lat -n 50 -R",
      "ib_send_lat -n 50 -R",
      "ib_send_lat -n 50 -c UD -R",
      "ib_send_bw -n 100 -s 1024 -t 8 -z",
      "ib_write_lat -n 50 -c UC -z"
    })
@interface PerftestCommands {}
