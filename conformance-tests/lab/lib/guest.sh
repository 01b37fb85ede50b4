# shellcheck shell=bash
# Sourced by run: guests. A guest is a QEMU process, the servers of its vfio-user devices, and a
# folder $OUT/NAME that it sees as /out. The guest "host" is a process on the host itself instead.
# The folder:
#
#   jobs       what it is to do: lines "SCENARIO JOB SECONDS"
#   ended      what it has done: lines "JOB STATUS"
#   results    its checks: lines "PASS|FAIL|SKIP|NOTE <tab> scenario <tab> what <tab> seconds <tab> log"
#   logs/      the output of each job and of each check
#   ask        a request to the host (see answer_guest); "answer" appears when it is done
#   console.log, dmesg.log, qemu.log, server-*.log

declare -A GUEST_PROCESS=() DEADLINE=() SERVER_PROCESS=()

# Prints the arguments for QEMU that make the kind of machine, and the kernel and its command line.
# $1: intel, virtio, own, bare, rxe, nic, nic-iommu, nic-far or nic-roce
machine() {
  local stock="-kernel $SOCKETS/stock -initrd $SOCKETS/stock.gz"
  local own="-kernel $OWN_KERNEL/vmlinuz -initrd $SOCKETS/own.gz"
  local intel="-machine q35,kernel-irqchip=split
    -device intel-iommu,intremap=on,caching-mode=on,aw-bits=48"
  case $1 in
    intel) echo "$stock $intel" ;;
    virtio | nic-far) echo "$stock -machine q35 -device virtio-iommu-pci" ;;
    own) echo "$own $intel" ;;
    bare) echo "$own -machine q35" ;;
    rxe | nic) echo "$stock -machine q35" ;;
    nic-iommu | nic-roce) echo "$stock $intel" ;;
  esac
}

# How long TCP runs each way in a guest. $1: the same
seconds_of_tcp() {
  case $1 in
    nic) echo "${SECONDS_OF_TCP:-10}" ;;
    *) echo "${SECONDS_OF_TCP:-4}" ;;
  esac
}

# $1: the same
kernel_arguments() {
  case $1 in
    intel | own) echo "intel_iommu=on,sm_off" ;;
    virtio) echo "vfio_iommu_type1.allow_unsafe_interrupts=1" ;;
    bare) echo "vfio.enable_unsafe_noiommu_mode=1" ;;
    rxe) echo "lab.no-tools" ;;
    nic) echo "lab.no-tools lab.seconds=$(seconds_of_tcp "$1")" ;;
    # The kernel's own use of the card passes by the IOMMU, as in most machines.
    nic-far) echo "vfio_iommu_type1.allow_unsafe_interrupts=1 iommu.passthrough=1" ;;
    nic-roce) echo "intel_iommu=on,sm_off iommu.passthrough=1 lab.seconds=$(seconds_of_tcp "$1")" ;;
    nic-iommu)
      echo "intel_iommu=on,sm_off iommu.passthrough=0 lab.no-tools lab.seconds=$(seconds_of_tcp "$1")"
      ;;
  esac
}

# Starts a vfio-user server and waits for its socket.
# $1: guest; $2: name; $3: socket; $4...: command
start_server() {
  local guest=$1 name=$2 socket=$3 i
  shift 3
  "$@" > "$OUT/$guest/server-$name.log" 2>&1 < /dev/null &
  SERVER_PROCESS[$guest/$name]=$!
  PROCESSES+=($!)
  for ((i = 0; i < 300; i++)); do
    [ -S "$socket" ] && return 0
    kill -0 "${SERVER_PROCESS[$guest/$name]}" 2> /dev/null || break
    sleep 0.1
  done
  tail -n 20 "$OUT/$guest/server-$name.log" >&2
  die "server $name of guest $guest made no socket"
}

# Starts the servers that a guest needs, and sets DEVICES to the arguments that give it the devices.
# $1: guest
start_devices() {
  local guest=$1 socket=$SOCKETS/$1
  DEVICES=()
  case $guest in
    intel | own | bare) DEVICES+=(-device "edu,dma_mask=0xffffffffffffffff") ;;
  esac
  case $guest in
    intel | virtio | bare)
      DEVICES+=(-netdev user,id=plain,restrict=on
        -device virtio-net-pci,netdev=plain,mac=52:54:00:76:6e:01,disable-legacy=on,iommu_platform=on)
      ;;
  esac
  case $guest in
    intel)
      start_server "$guest" store "$socket-store" python3 "$LAB/servers/store.py" "$socket-store"
      add_vfio_user "$socket-store"
      ;;
  esac
  case $guest in
    intel | virtio | own | host)
      start_server "$guest" hcas "$socket-right" \
        env JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1 "$PROJECT/tools/bin/hghca" model serve \
        --socket "$socket-left" --peer "$socket-right"
      add_vfio_user "$socket-left"
      add_vfio_user "$socket-right"
      ;;
    rxe) start_interop "$socket-net" ;;
    nic | nic-iommu)
      start_server "$guest" nic "$socket-nic" \
        env JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1 "$LAB/servers/nic.sh" "$socket-nic" \
        "$PROJECT/tools/bin/hghca" "$LAB"
      add_vfio_user "$socket-nic"
      ;;
    nic-far)
      # Both cards, on one hub; it outlives this guest.
      mkdir -p "$OUT/nic-roce"
      start_server nic-roce nics "$socket" \
        env JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1 "$PROJECT/tools/bin/hghca" model serve --kind virtio \
        --socket "$SOCKETS/nic-roce" -o hub=h -o roce=rfc-v2 -o mac=52:54:00:0a:62:0b \
        --peer "$socket" --peer-option hub=h --peer-option roce=rfc-v2 --peer-option mac=52:54:00:0a:62:0c
      add_vfio_user "$socket"
      add_talk on 52:54:00:0a:61:01
      ;;
    nic-roce)
      add_vfio_user "$socket"
      add_talk off,reconnect-ms=200 52:54:00:0a:61:02
      ;;
  esac
}

# A plain network card of QEMU's own, on a wire between two guests: their programs talk by TCP while
# the cards of the model are the driver's.
# $1: whether it listens at the wire's socket; $2: its MAC
add_talk() {
  DEVICES+=(-netdev "stream,id=talk,server=$1,addr.type=unix,addr.path=$SOCKETS/talk"
    -device "virtio-net-pci,netdev=talk,mac=$2,romfile=")
}

# The device of a vfio-user server; a slow machine must not count as a dead server.
# $1: socket
add_vfio_user() {
  DEVICES+=(-device '{"driver":"vfio-user-pci","x-msg-timeout":60000,"socket":{"type":"unix","path":"'"$1"'"}}')
}

# Boots a guest that does jobs.
# $1: guest; $2...: jobs, as "SCENARIO JOB SECONDS", or none for a shell on this terminal
start_guest() {
  local guest=$1 job limit=60 arguments console libraries memory=1536
  shift
  # Room for 1 GiB that is given to a device, in huge pages and in others.
  case $guest in
    intel | own) memory=3072 ;;
  esac
  mkdir -p "$OUT/$guest/logs"
  cp -r "$SOCKETS/programs" "$OUT/$guest/"
  : > "$OUT/$guest/results"
  : > "$OUT/$guest/ended"
  arguments="console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check $(kernel_arguments "$guest")"
  arguments+=" lab.home=$PROJECT lab.jdk=$JDK lab.guest=$guest"
  if [ $# -gt 0 ]; then
    printf '%s\n' "$@" > "$OUT/$guest/jobs"
    for job in "$@"; do limit=$((limit + ${job##* })); done
    console=file:$OUT/$guest/console.log
  else
    arguments+=" lab.shell"
    console=stdio
  fi
  start_devices "$guest"
  if [ "$guest" = host ]; then
    env "OUT=$OUT/host" "JDK=$JDK" "LAB=$LAB" "SOCKETS=$SOCKETS" "TOOLS=$SOCKETS/tools" \
      "$LAB/guest/do-jobs" &
    note_guest "$guest" $! "$limit"
    return
  fi
  # QEMU runs from the guest's root without chroot, so that it sees the host's paths.
  libraries=$BASE/usr/lib/x86_64-linux-gnu
  # shellcheck disable=SC2046 # the arguments of the machine are words
  set -- env "QEMU_MODULE_DIR=$libraries/qemu" "$BASE/lib64/ld-linux-x86-64.so.2" --inhibit-cache \
    --library-path "$libraries" "$BASE/usr/bin/qemu-system-x86_64" \
    -L "$BASE/usr/share/qemu" -L "$BASE/usr/share/seabios" \
    $(machine "$guest") -append "$arguments" -serial "$console" \
    -accel tcg,thread=multi -cpu max,la57=off -smp "$SMP" -m "$memory" \
    -object "memory-backend-memfd,id=memory,size=${memory}M,share=on" -numa node,memdev=memory \
    -nodefaults -no-user-config -display none -no-reboot -monitor none \
    $(share root "$BASE" on) $(share project "$PROJECT" on) $(share jdk "$JDK" on) \
    $(share out "$OUT/$guest" off) "${DEVICES[@]}"
  if [ "$console" = stdio ]; then
    "$@"
  else
    "$@" > "$OUT/$guest/qemu.log" 2>&1 < /dev/null &
    note_guest "$guest" $! "$limit"
  fi
}

# $1: guest; $2: its process; $3: how many seconds it may take
note_guest() {
  GUEST_PROCESS[$1]=$2
  DEADLINE[$1]=$(($(elapsed) + $3))
  PROCESSES+=("$2")
}

# The arguments that share a folder: share TAG FOLDER READ-ONLY
share() {
  echo "-fsdev local,id=$1,path=$2,security_model=none,multidevs=remap,readonly=$3" \
    "-device virtio-9p-pci,fsdev=$1,mount_tag=$1"
}


# Executes a request of a guest.
# $1: guest
answer_guest() {
  local guest=$1 request name
  [ -e "$OUT/$guest/ask" ] || return 0
  request=$(cat "$OUT/$guest/ask")
  rm "$OUT/$guest/ask"
  name=$guest/${request#* }
  case $request in
    "kill "*) { kill -KILL "${SERVER_PROCESS[$name]}" && wait "${SERVER_PROCESS[$name]}"; } 2> /dev/null ;;
    *) echo "guest $guest asks for something unknown: $request" >&2 ;;
  esac
  : > "$OUT/$guest/answer"
}

# Waits until no more guests run than that, and serves them meanwhile.
# $1: number
wait_for_guests() {
  local guest
  while [ ${#GUEST_PROCESS[@]} -gt "$1" ]; do
    sleep 0.5
    for guest in "${!GUEST_PROCESS[@]}"; do
      answer_guest "$guest"
      report_results "$guest"
      if [ "$(elapsed)" -gt "${DEADLINE[$guest]}" ]; then
        step "guest $guest took too long and is ended"
        end_process "${GUEST_PROCESS[$guest]}"
      fi
      if ! kill -0 "${GUEST_PROCESS[$guest]}" 2> /dev/null; then
        wait "${GUEST_PROCESS[$guest]}"
        unset "GUEST_PROCESS[$guest]"
        report_results "$guest"
        report_jobs "$guest"
        report_refused_memory "$guest"
        end_servers "$guest"
      fi
    done
  done
}

# $1: guest
end_servers() {
  local server
  for server in "${!SERVER_PROCESS[@]}"; do
    [[ $server == "$1"/* ]] && end_process "${SERVER_PROCESS[$server]}"
  done
}
