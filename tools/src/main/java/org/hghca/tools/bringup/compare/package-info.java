/** What changed between two reports. */
package org.hghca.tools.bringup.compare;
