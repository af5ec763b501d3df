#!/usr/bin/env bash
# Fuzzes the readers of files with cargo-fuzz for a given time. Failing inputs are kept in files/fuzz/artifacts/, and the command that
# repeats a failure is printed. cargo-fuzz is installed if it is missing. The first build takes minutes.
#
# Usage: scripts/fuzz.sh [FORMAT [SECONDS]]
#   FORMAT   a folder of files/corpus, whose files are mutated; by default, or with 'all', all folders one after the other; or 'rewrite',
#            which reads any of the files, writes the tensors, and compares them with what is read back; or 'graph', which reads the graphs
#            of exported programs
#   SECONDS  for each, 60 by default
set -euo pipefail
cd "$(dirname "$0")/.."

PATH="$PATH:$HOME/.cargo/bin"
seconds=${2:-60}
case ${1:-all} in
all) goals=($(ls files/corpus) rewrite graph) ;;
-*)
    sed -n 's/^# Usage: /usage: /p' "$0" >&2
    exit 2
    ;;
*) goals=("$1") ;;
esac

# The compiler flags for fuzzing need a nightly compiler. With this variable a stable compiler accepts them, too.
export RUSTC_BOOTSTRAP=1
if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz: installing cargo-fuzz"
    cargo install --quiet cargo-fuzz --locked || {
        echo "fuzz: please install cargo-fuzz" >&2
        exit 1
    }
fi

# An input has at most 1 MB, 1 s and 1 GB of memory.
limits=(-max_len=1048576 -timeout=1 -rss_limit_mb=1024 -max_total_time="$seconds" -print_final_stats=1)
failed=0
for goal in "${goals[@]}"; do
    if [ "$goal" = rewrite ]; then
        target=rewrite
        seeds=(files/corpus/*/)
    elif [ "$goal" = graph ]; then
        target=program
        seeds=(files/fuzz/corpus/graphs)
        python3 - files/corpus/program "${seeds[0]}" <<'EOF'
import pathlib, sys, zipfile

files, to = map(pathlib.Path, sys.argv[1:])
to.mkdir(parents=True, exist_ok=True)
for path in files.iterdir():
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if "/models/" in name or name == "serialized_exported_program.json":
                (to / f"{path.stem}.{pathlib.Path(name).name}").write_bytes(archive.read(name))
EOF
    else
        target=open
        seeds=("files/corpus/$goal")
    fi
    [ -d "${seeds[0]}" ] || { echo "fuzz: files/corpus has no $goal" >&2 && exit 2; }
    # New inputs go to the first folder.
    mkdir -p "files/fuzz/corpus/$goal" "files/fuzz/artifacts/$goal"
    log=files/fuzz/artifacts/$goal.log
    if cargo fuzz run --fuzz-dir files/fuzz "$target" "files/fuzz/corpus/$goal" "${seeds[@]}" -- "${limits[@]}" \
        -artifact_prefix="files/fuzz/artifacts/$goal/" >"$log" 2>&1; then
        echo "ok      $goal: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs," \
            "slowest $(sed -n 's/^stat::slowest_unit_time_sec: *//p' "$log") s, peak $(sed -n 's/^stat::peak_rss_mb: *//p' "$log") MB"
        continue
    fi
    failed=1
    echo "FAILED  $goal: $log"
    grep -m 2 -E 'panicked|ERROR' "$log" || tail -n 3 "$log"
    for found in $(sed -n 's/.*Test unit written to //p' "$log"); do
        echo "        RUSTC_BOOTSTRAP=1 cargo fuzz run --fuzz-dir files/fuzz $target $found -- -timeout=1 -rss_limit_mb=1024"
    done
done
exit $failed
