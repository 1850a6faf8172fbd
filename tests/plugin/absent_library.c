/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that a plug-in is linked with and that is missing when the plug-in is loaded. */

int ozbound_absent(void);
int ozbound_absent(void) { return 1; }
