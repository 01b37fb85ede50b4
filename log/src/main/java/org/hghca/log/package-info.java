/** What the lines of the log are about, and how often a condition is logged. */
package org.hghca.log;
