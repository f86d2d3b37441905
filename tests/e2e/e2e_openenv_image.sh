#!/bin/bash
# examples/openenv/Dockerfile is carried out and what it starts is used: OpenEnv's own client resets, steps
# and asks for the state. Where docker or podman works and has the base image, or gets it within 40 s, it
# builds both images. Elsewhere dockerfile.py takes the steps in a root of their own: this machine's system
# files, copied on write, without /usr/local, /opt, homes and sources; the program is installed there as the
# Dockerfile at the top does. That needs root, namespaces and the package registries: without them only what
# COPY names is looked at. Faulty Dockerfiles are refused.
# Times nothing.
without_plugins=yes
. "$(dirname "$0")/e2e.inc.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
here=$top/tests/e2e
image=$top/examples/openenv/Dockerfile
command -v python3 >/dev/null || { echo "no python3 here (apt-get install python3)"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1

carry() { python3 "$here/dockerfile.py" "$@"; }
carry check "$image" "$top" >"$work/out" 2>&1
verdict $? "the Dockerfile's instructions are known, and what it copies is there" "$(tail -1 "$work/out")"
refused() { # refused NAME PATTERN TEXT: by its text alone
    printf 'FROM cudal2-bench\n%b\nCMD ["x"]\n' "$3" >"$work/bad"
    carry check "$work/bad" "$top" >"$work/out" 2>&1
    [ $? -eq 1 ] && grep -q "$2" "$work/out"
    verdict $? "$1 is refused" "$(tail -1 "$work/out")"
}
refused "a file that is not there" 'no python/cudal2 in the context' 'COPY python/cudal2 /opt/x'
refused "one that .dockerignore leaves out" 'no results/policy in the context' 'COPY results/policy /opt/x'
refused "one from outside" 'no ../shared in the context' 'COPY ../shared /opt/x'
refused "an instruction that is misspelt" 'COPPY' 'COPPY python /opt/x'
expect_text "$top/Dockerfile" 'docker build -t cudal2-bench ' "its base is the image of the Dockerfile at the top"
[ -n "${CUDAL2_SLOW:-}" ] || { echo "# its steps take a minute and the network: make test-all"; finish; }

cat >"$work/client.py" <<'END'
import time
from openenv.core import GenericEnvClient

until = time.monotonic() + 60
while True:
    try:
        with GenericEnvClient(base_url="http://127.0.0.1:8000", message_timeout_s=60).sync() as env:
            first = env.reset(problem="64x64x96")
            seen = env.step({"submission": {"candidate": "blocked", "half_width": 0.5, "seconds": 0.1}})
            state = env.state()
        break
    except (ConnectionError, OSError) as error:
        if time.monotonic() > until:
            raise
        time.sleep(0.3)
print("reset", first.observation["problem"], "step", seen.observation["verdict"], seen.reward > 0, "state", state["step_count"])
END

# ---- where there is a tool for images ----

base=$(sed -n 's/^FROM //p' "$top/Dockerfile" | tail -1)
base=${base//'${CUDA}'/$(sed -n 's/^ARG CUDA=//p' "$top/Dockerfile")}
unusable() { # unusable TOOL: says why
    timeout 20 "$1" info >"$work/out" 2>"$work/err" || { echo "$1 does not run here: $(tail -1 "$work/err")"; return; }
    timeout 20 "$1" image inspect "$base" >/dev/null 2>&1 || timeout 40 "$1" pull -q "$base" >/dev/null 2>"$work/err" ||
        echo "$1 does not get $base: $(tail -1 "$work/err")"
}
with_tool() { # with_tool TOOL
    local id
    timeout 560 "$1" build -q -t cudal2-bench "$top" >"$work/out" 2>&1 && timeout 560 "$1" build -q -t cudal2-openenv -f "$image" "$top" >>"$work/out" 2>&1
    verdict $? "$1 builds both images" "$(tail -3 "$work/out")"
    id=$(timeout 60 "$1" run --rm -d cudal2-openenv --start cpu 2>"$work/err")
    verdict $? "and runs the second one" "$(tail -1 "$work/err")"
    timeout 120 "$1" exec -i "$id" /opt/openenv/bin/python - <"$work/client.py" >"$work/used" 2>&1
    expect_text "$work/used" '^reset 64x64x96 step ok True state 1$' "OpenEnv's client resets, steps and asks for the state"
    timeout 60 "$1" rm -f "$id" >/dev/null 2>&1
}

# ---- elsewhere ----

root=$work/root
cat >"$work/root.sh" <<'END'
# In mount and process namespaces of its own; what is mounted ends with it.
set -e
mkdir -p "$work/up" "$root"
mount -t tmpfs none "$work/up"
mkdir "$work/up/data" "$work/up/work"
mount -t overlay none -o "lowerdir=/,upperdir=$work/up/data,workdir=$work/up/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
for hidden in /usr/local /opt /root /home /srv /tmp "/${top#/}"; do
    mkdir -p "$root$hidden"
    mount -t tmpfs -o mode=1777 none "$root$hidden"
done
[ "$1" = try ] && exit
source "$work/task.sh"
END
in_root() { # in_root try|task
    work=$work root=$root top=$top timeout -k 5 300 unshare --mount --pid --fork --kill-child bash "$work/root.sh" "$1"
}
why_not() { # says why the steps cannot be taken
    [ "$(id -u)" -eq 0 ] || { echo "not root"; return; }
    in_root try >"$work/out" 2>&1 || { echo "no namespaces or overlays here: $(tail -1 "$work/out")"; return; }
    command -v apt-get >/dev/null || { echo "no apt"; return; }
    python3 -m pip -q --disable-pip-version-check download --no-deps -d "$work/probe" h11 >"$work/out" 2>&1 || { echo "no package registry: $(tail -1 "$work/out")"; return; }
    apt-get update -qq -o APT::Update::Error-Mode=any >"$work/out" 2>&1 || echo "no package registry: $(tail -1 "$work/out")"
}

bad_step() { # bad_step NAME PATTERN STEP
    cat >"$work/task.sh" <<END
printf 'FROM cudal2-bench\nRUN %s\nCMD ["x"]\n' '$3' >"$work/bad"
python3 "$here/dockerfile.py" build "$work/bad" "$top" "$root"
END
    in_root task >"$work/out" 2>&1
    [ $? -eq 1 ] && grep -q '^dockerfile: RUN' "$work/out" && grep -q "$2" "$work/out"
    verdict $? "$1 is refused" "$(tail -2 "$work/out")"
}

in_a_root() {
    make_built -o all install PREFIX=/usr/local DESTDIR="$work/installed" >"$work/make" 2>&1
    verdict $? "the base has the program" "$(tail -2 "$work/make")"
    cat >"$work/task.sh" <<END
cp -r "$work/installed/." "$root/"
python3 "$here/dockerfile.py" build "$image" "$top" "$root" || exit 3
echo "built"
[ -e /dev/nvidia0 ] || { timeout 60 python3 "$here/dockerfile.py" start "$image" "$top" "$root" 2>&1 </dev/null | tail -1 | sed 's/^/as it is: /'; }
cp "$work/client.py" "$root/tmp/client.py"
unshare --net bash -c '
    python3 -c "
import fcntl, socket, struct
fcntl.ioctl(socket.socket(), 0x8914, struct.pack(\"16sh\", b\"lo\", 0x49))"
    python3 "$here/dockerfile.py" start "$image" "$top" "$root" --start cpu &
    timeout 120 chroot "$root" /opt/openenv/bin/python /tmp/client.py
    code=\$?
    kill %1
    wait
    exit \$code'
END
    in_root task >"$work/used" 2>&1
    grep -q '^built$' "$work/used"
    verdict $? "the Dockerfile is carried out" "$(grep -E '^(E|ERROR|dockerfile): ' "$work/used" | cut -c1-300)"
    grep -q '^built$' "$work/used" || return
    expect_text "$work/used" '^reset 64x64x96 step ok True state 1$' "OpenEnv's client resets, steps and asks for the state"
    [ -e /dev/nvidia0 ] || expect_text "$work/used" '^as it is: .*serve does not start: .*(CUDA|cuda|GPU|libcuda)' "what it starts by itself asks for a GPU"
    bad_step "a package of Debian that is not there" 'Unable to locate package' 'apt-get install -y no-such-package-here'
    bad_step "a package of Python that is not there" 'No matching distribution' 'python3 -m venv /opt/x && /opt/x/bin/pip install cudal2-no-such-package'
    bad_step "a command that is not there" 'not found' 'no-such-command'
}

used=
for tool in docker podman; do
    [ -z "$used" ] && command -v "$tool" >/dev/null || continue
    why=$(unusable "$tool")
    if [ -n "$why" ]; then echo "# $why"; else used=$tool; fi
done
why=$(why_not)
if [ -n "$used" ]; then
    with_tool "$used"
elif [ -n "$why" ]; then
    echo "# the steps of the Dockerfile were not taken: $why"
else
    in_a_root
fi
finish
