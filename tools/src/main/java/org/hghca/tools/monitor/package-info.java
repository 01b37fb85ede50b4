/** What running programs count, seen from outside: {@code hghca top} and {@code hghca metrics}. */
package org.hghca.tools.monitor;
