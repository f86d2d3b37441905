# slurm.inc.sh - a Slurm cluster of one node on this machine, for tests; sourced behind e2e.inc.sh.
# slurm_start makes it under $work with ports of its own, slurm_stop ends it; between them slurm_lose_node and
# slurm_node cut the node's power and switch it on. The node has eight CPUs and eight GPUs by declaration
# alone.
cluster=$work/slurm
slurm_pids=
slurmd_pid=
export slurm_missing=

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

slurm_config() {
    local me host
    me=$(id -un)
    host=$(hostname -s)
    cat >"$cluster/slurm.conf" <<END
ClusterName=e2e
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket,cred_expire=5
SlurmUser=$me
SlurmdUser=$me
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000,bf_interval=3
SlurmdParameters=config_overrides
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
SlurmdTimeout=15
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 Gres=gpu:8 State=UNKNOWN
PartitionName=low Nodes=$host Default=YES PriorityTier=1
PartitionName=high Nodes=$host PriorityTier=10 PreemptMode=OFF
END
    echo "NodeName=$host Name=gpu File=$cluster/gpu[0-7]" >"$cluster/gres.conf"
}

slurm_start() { # 1: this machine cannot, and $slurm_missing says what
    mkdir -p "$cluster/munge" "$cluster/state" "$cluster/spool"
    chmod 755 "$work" "$cluster" "$cluster/munge"
    for i in 0 1 2 3 4 5 6 7; do
        mknod "$cluster/gpu$i" c 1 3 || { slurm_missing="device files are refused"; return 1; }
    done
    slurm_config
    export SLURM_CONF=$cluster/slurm.conf
    (umask 077 && head -c 1024 /dev/urandom >"$cluster/munge/key")
    munged --force --foreground --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" --pid-file="$cluster/munge/pid" \
        --seed-file="$cluster/munge/seed" --log-file="$cluster/munge/log" >/dev/null 2>&1 &
    slurm_pids=$!
    for _ in $(seq 300); do [ -S "$cluster/munge/socket" ] && break || sleep 0.1; done
    slurmctld -D -i -f "$SLURM_CONF" >/dev/null 2>&1 &
    slurm_pids="$! $slurm_pids"
    slurm_node
    slurm_missing="the node does not get idle"
    slurm_node_is idle
}

slurm_node() { # the node's daemon
    slurmd -D -f "$SLURM_CONF" >/dev/null 2>&1 &
    slurmd_pid=$!
}

slurm_node_is() { # slurm_node_is STATE: within 60 s; 1: the controller still takes it for something else
    local until=$((SECONDS + 60)) # by the clock: who asks a controller that is not there waits
    while [ "$SECONDS" -lt "$until" ]; do
        [[ $(timeout 5 sinfo -h -p low -o %t 2>/dev/null) == "$1"* ]] && return 0
        sleep 0.1
    done
    tail -5 "$cluster"/*.log | sed 's/^/# /'
    return 1
}

# As without power: the daemon, those that watch over tasks, and the tasks are gone at once, and none of them
# says so.
slurm_lose_node() {
    local script all=$slurmd_pid
    for script in $(pgrep -f -- "^/bin/bash $cluster/spool/job"); do
        all="$all $(pgrep -s "$(ps -o sid= -p "$script" | tr -d ' ')" | tr '\n' ' ')"
    done
    # shellcheck disable=SC2086
    kill -9 $all || return 1
    wait "$slurmd_pid" 2>/dev/null
    return 0
}

slurm_stop() {
    local until=$((SECONDS + 15))
    timeout 5 scancel -u "$(id -un)" 2>/dev/null
    while [ "$SECONDS" -lt "$until" ] && [ -n "$(timeout 5 squeue -h 2>/dev/null)" ]; do sleep 0.1; done
    # shellcheck disable=SC2086
    [ -n "$slurm_pids" ] && kill $slurmd_pid $slurm_pids 2>/dev/null && wait $slurmd_pid $slurm_pids 2>/dev/null
    slurm_pids=
}
