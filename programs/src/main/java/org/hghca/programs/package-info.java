/** What the programs have in common on the command line, and how they end. */
package org.hghca.programs;
