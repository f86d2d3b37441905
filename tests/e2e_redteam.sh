#!/bin/bash
# The red team on the CPU device: every contender that cheats is caught, no honest one is accused.
exec "$(dirname "$0")/redteam/run.sh" "$(dirname "$0")/redteam/cpu.table"
