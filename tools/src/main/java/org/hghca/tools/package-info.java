/** The command line. */
package org.hghca.tools;
