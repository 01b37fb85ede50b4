package org.hghca.conformance.table;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A test method proves a case of how verbs behave; each adds a row to {@code
 * conformance-tests/verbs-cases.md}.
 */
@Documented
@Repeatable(VerbsCases.class)
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface VerbsCase {
  /** The source of cases that none of rdma-core's tests has. */
  String CONTRACT = "verbs contract";

  Tier tier() default Tier.CONTRACT;

  /** The test of rdma-core for the case, as {@code module.Class.method}. */
  String source() default CONTRACT;

  /** The required result, with its status, errno or event. */
  String says();

  /** The device lacks it: the test proves that the verb fails with EOPNOTSUPP. */
  boolean unsupported() default false;
}
