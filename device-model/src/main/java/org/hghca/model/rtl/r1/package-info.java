/** The data path of the first RTL, with its defects. */
package org.hghca.model.rtl.r1;
