#!/bin/sh
# Stands in for the harness under whose name it was started: writes down its words and its standard input, a file each in STAND_IN_LOG.
# It is a shell because hundreds of them run; read-harness.ts takes apart what it has written.
printf '%s\0' "${0##*/}" "$@" > "$STAND_IN_LOG/$$.words"
if [ -t 0 ]; then : > "$STAND_IN_LOG/$$.input"; else cat > "$STAND_IN_LOG/$$.input"; fi
echo 'Looks good.'
