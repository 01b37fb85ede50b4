/** What commands need of the command line that starts them. */
package org.hghca.tools.launch;
