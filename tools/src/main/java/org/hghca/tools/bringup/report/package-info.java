/** A report for people and programs: text, JSON, JUnit, HTML. */
package org.hghca.tools.bringup.report;
