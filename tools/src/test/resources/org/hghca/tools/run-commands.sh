# Runs command lines in a network namespace of its own: bash run-commands.sh <folder> <line>...
# A line "... &" goes on beside the next ones; the line "stop" ends those, the last one first. Of line N
# the folder gets N.out, N.err and, when it has ended, its status as N.code.
set -um
folder=$1
shift
ip link set lo up
ip address add 192.0.2.1/24 dev lo
ip address add 192.0.2.2/24 dev lo
ip link add eth1 type veth peer name far
ip link set eth1 up
ip link set far up

running=() # the numbers of lines
declare -A process

signs_of_life() { # signs_of_life <number>: what a server has when it is ready, counted
  cat /proc/net/{tcp,tcp6,udp,udp6,unix} "$folder/$1.out" | wc -l
}

start() { # start <number> <line>
  local before same=0 last now
  : > "$folder/$1.out"
  before=$(signs_of_life "$1")
  last=$before
  bash -c "$2" > "$folder/$1.out" 2> "$folder/$1.err" < /dev/null &
  process[$1]=$!
  running+=("$1")
  while [ "$same" -lt 5 ] && kill -0 "$!" 2> /dev/null; do
    sleep 0.1
    now=$(signs_of_life "$1")
    [ "$now" -gt "$before" ] && [ "$now" = "$last" ] && same=$((same + 1)) || same=0
    last=$now
  done
}

await() { # await <number>
  wait "${process[$1]}"
  echo $? > "$folder/$1.code"
}

number=0
for line in "$@"; do
  case $line in
    stop)
      for ((at = ${#running[@]} - 1; at >= 0; at--)); do
        # Its program, not the shell around it.
        pkill -TERM -g "${process[${running[$at]}]}" -x java
        await "${running[$at]}"
      done
      running=()
      ;;
    *' &') start "$number" "${line% &}" ;;
    *)
      bash -c "$line" > "$folder/$number.out" 2> "$folder/$number.err" < /dev/null
      echo $? > "$folder/$number.code"
      ;;
  esac
  number=$((number + 1))
done
for at in "${running[@]}"; do
  await "$at"
done
