#!/bin/sh
# Kills a training program with SIGKILL after its first checkpoint, continues with another program, and compares the losses and the last
# checkpoint with a run that was never killed: resume.sh FOLDER COMMAND NEXT_COMMAND.
#
# Both commands accept the options of examples/cifar_like.c. RESUME_SIZE replaces the numbers of epochs and pictures and the required
# accuracy.
set -eu
folder=$1 first=$2 next=$3
size=${RESUME_SIZE:---epochs 3 --pictures 1000 --accuracy 0.6}

fail() {
    echo "resume.sh: $1"
    exit 1
}

rm -rf "$folder"
mkdir -p "$folder"
eval "$first $size --checkpoint '$folder/whole'" >"$folder/whole.txt"

eval "exec $first $size --checkpoint '$folder/killed'" >"$folder/killed.txt" &
program=$!
while ! [ -e "$folder/killed.pt" ]; do
    kill -0 $program || fail "the program ended without a checkpoint"
    sleep 0.02
done
kill -KILL $program
status=0
wait $program || status=$?
[ $status = 137 ] || fail "the program ended with status $status before it was killed"

eval "$next $size --checkpoint '$folder/killed'" >"$folder/resumed.txt"
cat "$folder/whole.txt" "$folder/resumed.txt"

grep -q "^continue after epoch" "$folder/resumed.txt" || fail "the second run began again"
[ "$(tail -n 2 "$folder/whole.txt")" = "$(tail -n 2 "$folder/resumed.txt")" ] || fail "the last losses differ"
cmp "$folder/whole.pt" "$folder/killed.pt" || fail "the checkpoints differ"
