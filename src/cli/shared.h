/*
 * shared.h - the options that several commands have: name, letter, argument and help are here,
 * once.
 *
 * A command names those that it takes, each with the function that stores its value:
 *
 *     {CLI_SHARED_JSON, set_json},
 *
 * and an option means the same in all commands. One that takes more in a command than in others, as
 * --set of `orrery sweep` takes lists of values, has the same name and letter (CLI_NAMED), with an
 * argument and a help of its own.
 */
#ifndef CLI_SHARED_H
#define CLI_SHARED_H

#include "cli/options.h"

// clang-format off

/* Names: long, letter, alias. */
#define CLI_NAMED_RANKS       "ranks", 'n', "-np"
#define CLI_NAMED_PLATFORM    "platform", 'p', NULL
#define CLI_NAMED_SET         "set", 's', NULL
#define CLI_NAMED_COLLECTIVES "collectives", 0, NULL
#define CLI_NAMED_OUTPUT      "output", 'o', NULL
#define CLI_NAMED_LAUNCHER    "launcher", 0, NULL
#define CLI_NAMED_FORMAT      "format", 0, NULL
#define CLI_NAMED_REPORT      "report", 0, NULL
#define CLI_NAMED_WHAT_IF     "what-if", 'w', NULL
#define CLI_NAMED_IDLE_LIMIT  "idle-limit", 0, NULL

/* What is run, and on what. */
#define CLI_SHARED_RANKS \
    CLI_NAMED_RANKS, "N", "number of ranks, such as 4096 or 1Mi (required)"
#define CLI_SHARED_APP \
    "app", 0, NULL, "FILE", \
    "programs with their ranks, one per line\n" \
    "take the programs from a file, with a line for each: -n N program arguments..."
#define CLI_SHARED_PLATFORM \
    CLI_NAMED_PLATFORM, "NAME", \
    "the machine: a preset or a file that ends in .yaml\n" \
    "the machine: a preset ('orrery platform list') or a file that ends in .yaml"
#define CLI_SHARED_SET \
    CLI_NAMED_SET, "KEY=VALUE", \
    "change settings of the machine: KEY=VALUE,...\n" \
    "change settings of the machine, KEY=VALUE separated by commas; may be repeated ('orrery help " \
    "settings')"
#define CLI_SHARED_COLLECTIVES \
    CLI_NAMED_COLLECTIVES, "NAME", \
    "algorithms as mpich or openmpi choose, or a model\n" \
    "how collectives are carried out: as mpich (default) or openmpi choose, or by a model; short " \
    "for --set mpi.collectives=NAME"
#define CLI_SHARED_MEMORY_RESERVE \
    "memory-reserve", 0, NULL, "SIZE", \
    "end when less memory is left; 0: never\n" \
    "end the run when less memory than this is left; 0: never; auto (default): 384 MiB, or a " \
    "sixteenth of little memory, if the run itself uses more than is left"
#define CLI_SHARED_PROCS \
    "procs", 'P', NULL, "P", \
    "native processes that share the simulation, or auto\n" \
    "native processes that share the simulation (default 1, at most one per rank), or auto; " \
    "changes nothing but wall time"
#define CLI_SHARED_PLACEMENT \
    "placement", 0, NULL, "HOW", \
    "of ranks on processes: block, cyclic, mincut:FILE\n" \
    "of ranks on processes: block (default), cyclic, or mincut:FILE, by the statistics (--stats) " \
    "of an earlier run"
#define CLI_SHARED_JOBS \
    "jobs", 'j', NULL, "JOBS", \
    "runs at a time (default: cores divided by --procs; 1 if compute time is measured, which runs " \
    "side by side would disturb)"

/* What is checked. */
#define CLI_SHARED_CHECK \
    "check", 0, NULL, NULL, \
    "compare types and arguments between ranks\n" \
    "compare types of messages and arguments of collectives between ranks, and end with 1 if any " \
    "differ"
#define CLI_SHARED_CHECK_LEAKS \
    "check-leaks", 0, NULL, NULL, \
    "report MPI objects that were not freed\n" \
    "report MPI objects that the program did not free, with the lines that made them, and end with " \
    "1 if there are any"

/* What is recorded. */
#define CLI_SHARED_TRACE \
    "trace", 0, NULL, "FILE", \
    "record all MPI calls, for 'orrery trace'\n" \
    "record every MPI call of every rank, with its arguments, in a trace (FILE.orr); 'orrery " \
    "trace' reads it"
#define CLI_SHARED_CALL_SITES \
    "call-sites", 0, NULL, NULL, \
    "record where in the program calls are made\n" \
    "record where in the program each call is made: up to four functions with files and lines"
#define CLI_SHARED_PROFILE_ONLY \
    "profile-only", 0, NULL, NULL, \
    "record statistics of functions, no events\n" \
    "record for each rank and function its calls, their time and bytes, instead of every call"
#define CLI_SHARED_PCAP \
    "pcap", 0, NULL, "DIR", \
    "net.model packet: write packets as pcap files\n" \
    "net.model packet: write packets to pcap files in DIR, one for each host or port, which " \
    "Wireshark and tshark read"
#define CLI_SHARED_PCAP_AT \
    "pcap-at", 0, NULL, "LIST", \
    "--pcap: at which hosts and ports, as n0,s1-*\n" \
    "with --pcap: where packets are captured, shell patterns separated by commas: n3 is host 3, " \
    "s0-n3 the port of switch 0 to it (default n*: all hosts)"
#define CLI_SHARED_VECTORS \
    "vectors", 0, NULL, "FILE", \
    "net.model packet: write queues and windows over time\n" \
    "net.model packet: write lengths of queues, and windows and round trips of connections, over " \
    "time, as CSV if FILE ends in .csv, else as JSON"
#define CLI_SHARED_VECTORS_AT \
    "vectors-at", 0, NULL, "LIST", \
    "--vectors: which, as window.*,queue.s0-*\n" \
    "with --vectors or a trace: which values are recorded over time, shell patterns separated by " \
    "commas: queue.s0-n3, window.r0-r1, rtt.r0-r1 (default *: all)"

/* What is written in the end. */
#define CLI_SHARED_REPORT \
    CLI_NAMED_REPORT, "FILE", \
    "write a page that shows the run (FILE.html)\n" \
    "write a page that shows the run in any browser (FILE.html), as 'orrery report' does"
#define CLI_SHARED_STATS \
    "stats", 0, NULL, "FILE", \
    "write statistics, as CSV or JSON\n" \
    "write statistics, as CSV if FILE ends in .csv, else as JSON"
#define CLI_SHARED_JSON \
    "json", 0, NULL, "FILE", "write the summary as JSON"
#define CLI_SHARED_PLOT \
    "plot", 0, NULL, "FILE", "draw the result as an SVG picture"
#define CLI_SHARED_FORMAT \
    CLI_NAMED_FORMAT, "FORMAT", "text (default), xml, json or csv"
#define CLI_SHARED_OUTPUT \
    CLI_NAMED_OUTPUT, "FILE", "write to FILE instead of standard output"

/* What is printed during a run. */
#define CLI_SHARED_LABELS \
    "labels", 0, NULL, NULL, "begin each line of output with its rank"
#define CLI_SHARED_QUIET \
    "quiet", 'q', NULL, NULL, "no summary, notes, warnings or progress line"
#define CLI_SHARED_PROGRESS \
    "progress", 0, NULL, NULL, "draw the progress line without a terminal, too"
#define CLI_SHARED_NO_PROGRESS \
    "no-progress", 0, NULL, NULL, "do not draw the progress line"
// clang-format on

/* The function of --quiet for commands that have nothing to leave out but notes and warnings. */
int cli_shared_quiet(void *into, const char *value, struct err *);

/* Whether to draw a progress line: 1 for --progress, 0 for --no-progress; -1: neither was given. */
int cli_shared_progress(int given, int quiet);

#endif
