/** The data path of the second RTL, as far as it is known. */
package org.hghca.model.rtl.r2;
