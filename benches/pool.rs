//! Times fork and join of the thread pool, compared with the least time in which two threads pass each other a word and back.
//!
//! `cargo bench --bench pool`. The README in this folder explains the table.

use std::hint::spin_loop;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, mem};
use thorn::cpu::pool;

const ROUNDS: usize = 300;

/// Calls in a sample with both threads awake.
const CALLS: usize = 100;

/// Long enough for the pool's worker to sleep.
const NAP: Duration = Duration::from_millis(2);

/// The time that a row shows: the average of some calls, in ns.
type Sample<'a> = &'a dyn Fn() -> f64;

fn main() {
    let [first, second] = two_cores().unwrap_or_else(|| {
        println!("fork-join: there is one core only");
        std::process::exit(0)
    });
    pool::set_num_threads(2);
    stay_on(first);
    // The worker is the other one of the two threads.
    let me = thread::current().id();
    meet_and(&|| stay_on(if thread::current().id() == me { first } else { second }));

    let trip = || round_trips(first, second);
    let awake = || warm(|| meet_and(&|| ()));
    let empty = || warm(|| pool::run(2, &|_| ()));
    let asleep = || time(1, || meet_and(&|| ()));
    let [trip, awake, empty, asleep] = race([&trip, &awake, &empty, &asleep]);
    print_row("fork-join, both threads at work", &awake, &trip, Some(1000.0));
    print_row("fork-join, nothing to do", &empty, &trip, None);
    print_row("fork-join, from sleep", &asleep, &trip, None);
}

/// Runs `task` on two threads, each of which waits for the other to begin. Otherwise one thread might do both parts.
fn meet_and(task: &(dyn Fn() + Sync)) {
    let begun = AtomicUsize::new(0);
    pool::run(2, &|_| {
        begun.fetch_add(1, AcqRel);
        wait_for(&begun, 2);
        task();
    });
}

/// The time of passing a word to another thread and back.
fn round_trips(first: usize, second: usize) -> f64 {
    let ball = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            stay_on(second);
            for call in 0..=CALLS {
                wait_for(&ball, 2 * call + 1);
                ball.store(2 * call + 2, Release);
            }
        });
        let throw = |call: usize| {
            ball.store(2 * call + 1, Release);
            wait_for(&ball, 2 * call + 2);
        };
        throw(0);
        stay_on(first);
        let start = Instant::now();
        (1..=CALLS).for_each(throw);
        start.elapsed().as_nanos() as f64 / CALLS as f64
    })
}

fn wait_for(word: &AtomicUsize, value: usize) {
    while word.load(Acquire) != value {
        spin_loop();
    }
}

/// The time of a call while the worker is awake.
fn warm(call: impl Fn()) -> f64 {
    (0..CALLS).for_each(|_| meet_and(&|| ()));
    time(CALLS, call)
}

fn time(calls: usize, call: impl Fn()) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(|_| call());
    start.elapsed().as_nanos() as f64 / calls as f64
}

/// Takes the samples of all rows in turn, beginning with sleeping workers, and sorts the samples of each row.
fn race<const N: usize>(rows: [Sample<'_>; N]) -> [Vec<f64>; N] {
    let mut samples = [const { Vec::new() }; N];
    for _ in 0..ROUNDS {
        for (row, samples) in rows.iter().zip(&mut samples) {
            thread::sleep(NAP);
            samples.push(row());
        }
    }
    samples.iter_mut().for_each(|samples| samples.sort_by(f64::total_cmp));
    samples
}

/// Prints a row in the format of `foundation.c`.
fn print_row(what: &str, samples: &[f64], trip: &[f64], goal: Option<f64>) {
    let (best, median, trip) = (samples[0], samples[ROUNDS / 2], trip[0]);
    let verdict = goal.map_or(String::new(), |goal| format!("   <= {goal} ns {}", if best <= goal { "ok" } else { "MISS" }));
    let against = "a word there and back";
    println!("{what:36}  2 {best:7.0} ns {median:7.0} ns   {against:20} {trip:6.0} ns {:6.2}{verdict}", trip / best);
}

/// Two cores that this process may use. The hardware threads of a core count as one.
fn two_cores() -> Option<[usize; 2]> {
    let allowed = affinity();
    let siblings = |cpu| fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")).ok();
    // SAFETY: the set is initialised, and the index is below its size.
    let mut cpus = (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &allowed) });
    let first = cpus.next()?;
    let second = cpus.find(|&cpu| siblings(cpu).is_none() || siblings(cpu) != siblings(first))?;
    Some([first, second])
}

fn affinity() -> libc::cpu_set_t {
    // SAFETY: the system writes a set of the given size, and a zeroed set is valid.
    unsafe {
        let mut set = mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&set), &mut set);
        set
    }
}

/// Pins the calling thread to one core, because some systems kept both threads on the same core.
fn stay_on(cpu: usize) {
    // SAFETY: the set is initialised, has room for `cpu`, and the system only reads the set.
    unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set);
    }
}
