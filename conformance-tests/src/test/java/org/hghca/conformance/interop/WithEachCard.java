package org.hghca.conformance.interop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.ClassTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/** As {@link WithSoftRoce}, once with each kind of software device at our end. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@WithSoftRoce
@ClassTemplate
@ExtendWith(EachCard.class)
@interface WithEachCard {}
