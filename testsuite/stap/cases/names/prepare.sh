# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - the script that calls every function there is.
"$here/generate" functions "$work/hotvar/tapset" > functions.stp
