package org.hghca.conformance.interop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.params.provider.CsvSource;

/** Kinds of ping-pongs of libibverbs, bytes of a message, and further options. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@CsvSource({
  "rc, 1, ' -m 1024'",
  "rc, 4096, ' -m 1024'",
  "rc, 4096, ' -m 1024 -e'",
  "rc, 4097, ' -m 256 -c'",
  "rc, 32768, ' -m 512'",
  "rc, 65536, ' -m 2048'",
  "rc, 65536, ' -m 4096 -e -c'",
  "uc, 1, ' -m 256'",
  "uc, 4096, ' -m 1024 -e'",
  "uc, 65536, ' -m 4096 -c'",
  "ud, 1, ''",
  "ud, 1024, ' -e'",
  "ud, 4096, ' -c'",
  "srq, 1, ' -m 1024'",
  "srq, 4096, ' -m 1024 -e'",
  "srq, 4096, ' -m 4096 -c'",
})
@interface PingpongOptions {}
