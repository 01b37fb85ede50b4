/**
 * The commands {@code hghca info} and {@code hghca list}: what devices there are, and what they
 * report.
 */
package org.hghca.tools.info;
