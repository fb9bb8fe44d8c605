# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - how often each module goes: LAB_UNLOADS=34 finds what is rarer.
echo "${LAB_UNLOADS:-12}" > times
