package org.hghca.conformance.interop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;

/** A test class whose methods get what {@link SoftRoce} gives; without a guest it is skipped. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("rxe")
@EnabledIfSystemProperty(named = "hghca.lab.rxe", matches = ".+")
@ExtendWith(SoftRoce.class)
@interface WithSoftRoce {}
