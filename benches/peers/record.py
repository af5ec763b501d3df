"""The record: lines `# run NAME: note` for the measurements, and a line for each row, number of threads and kind of processor."""

import math

COLUMNS = "group op dtype shape threads run thorn_ns torch_ns numpy_ns limit_ns load".split()
NUMBERS = COLUMNS[6:]


def key(entry):
    """What identifies a row. A record has at most one entry for each row and kind of processor."""
    return tuple(entry[column] for column in COLUMNS[:5])


def kind_of(entry):
    """The kind of processor: the name of a run is the kind and a number, as in `avx512-amx.3`."""
    return entry["run"].rsplit(".", 1)[0]


def read(path):
    """The notes of the runs and the entries; both are empty if there is no record."""
    runs, entries = {}, []
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("# run "):
            name, note = line[6:].split(": ", 1)
            runs[name] = note
        elif line != "\t".join(COLUMNS):
            entry = dict(zip(COLUMNS, line.split("\t")))
            entries.append({**entry, **{column: float(entry[column]) if entry[column] else None for column in NUMBERS}})
    return runs, entries


def shown(value):
    if not value:
        return ""
    text = f"{value:.4g}"
    return f"{float(text):.0f}" if float(text) >= 1000 else text


def write(path, runs, entries):
    """Writes the entries, and the notes of the runs to which an entry belongs."""
    used = {entry["run"] for entry in entries}
    lines = [f"# run {name}: {note}" for name, note in runs.items() if name in used] + ["\t".join(COLUMNS)]
    for entry in entries:
        load = f"{entry['load']:.1f}" if entry["load"] and entry["load"] >= 0.05 else ""
        lines.append("\t".join([*key(entry), entry["run"], *(shown(entry[column]) for column in NUMBERS[:-1]), load]))
    path.write_text("\n".join(lines) + "\n")


def next_run(runs, kind):
    numbers = [int(name.rsplit(".", 1)[1]) for name in runs if name.rsplit(".", 1)[0] == kind]
    return f"{kind}.{max(numbers, default=0) + 1}"


def merged(old, new, groups, rows, whole):
    """The entries of a record after a measurement. A new entry replaces the one of the same row and kind. `groups` are all groups in order,
    `rows` the rows of the measured ones as (group, op, dtype, shape). If `whole`, entries of rows that no longer exist are dropped."""
    measured = {(*key(entry), kind_of(entry)) for entry in new}
    kept = [entry for entry in old if (*key(entry), kind_of(entry)) not in measured]
    place, known = {row: at for at, row in enumerate(rows)}, {row[0] for row in rows}
    if whole:
        kept = [entry for entry in kept if key(entry)[:4] in place or entry["group"] not in known]
    order = {group: at for at, group in enumerate(groups)}

    def position(entry):
        """Entries of a group that was not measured keep their order."""
        row = key(entry)[:4]
        inside = (place.get(row, len(place)), row, entry["threads"], kind_of(entry)) if row[0] in known else ()
        return order.get(row[0], len(order)), inside

    return sorted(kept + new, key=position)


def ratio(entry, peer):
    """The speed of thorn relative to a peer; None if the peer was not timed."""
    return entry[peer] and entry["thorn_ns"] and entry[peer] / entry["thorn_ns"]


def mean(ratios):
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def ratios(entries, group, threads, peer="torch_ns"):
    chosen = (entry for entry in entries if entry["group"] == group and entry["threads"] == threads)
    return [times for entry in chosen if (times := ratio(entry, peer))]
