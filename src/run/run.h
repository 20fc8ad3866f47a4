/*
 * run.h - the page shared between `orrery run` (the watcher) and the library inside the program.
 *
 * The watcher creates it as a memory file, fills `opt`, and passes its descriptor number in
 * ENV_RUN_FD (base/env.h). The library maps it, keeps `now` up to date (plain stores, read racily
 * by the watcher for the progress line) and fills `end` before the process ends.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vtime.h"
#include "mpi_needs.h"
#include "platform/config.h"

#define RUN_MAGIC 0x4f525259u /* "ORRY" */

enum run_compute {
    RUN_COMPUTE_MEASURED = 0,
    RUN_COMPUTE_NONE,
    RUN_COMPUTE_COUNTERS,
    RUN_COMPUTE_TABLE,
    RUN_COMPUTE_REPLAY,
};

/* What runs ranks (vp/host.h), by the words of --host: name, word, whether each rank is a
 * process. */
#define RUN_HOSTS(X)     \
    X(AUTO, "auto", 0)   \
    X(FIBRE, "fibre", 0) \
    X(PROCESS, "process", 1)
#define RUN_HOST_HELP "auto (default), fibre or process"

#define RUN_HOST_ENUM(name, word, processes) RUN_HOST_##name,
enum run_host { RUN_HOSTS(RUN_HOST_ENUM) RUN_HOST_COUNT };
#undef RUN_HOST_ENUM

struct run_host_kind {
    const char *word;
    int processes;
};
static inline const struct run_host_kind *run_host_kind(int host)
{
#define RUN_HOST_KIND(name, word, processes) {word, processes},
    static const struct run_host_kind kinds[RUN_HOST_COUNT] = {RUN_HOSTS(RUN_HOST_KIND)};
#undef RUN_HOST_KIND

    return &kinds[host];
}

/* What messages and collectives of the program carry. */
enum run_payload { RUN_PAYLOAD_FULL = 0, RUN_PAYLOAD_NONE };

/* One of the programs of a run: how many ranks, and how many native processes have them. Ranks and
 * processes are in the order of programs. */
struct run_app {
    uint32_t ranks, procs;
};
#define RUN_APPS_MAX 64

struct run_options {
    uint64_t ranks;          /* of all programs */
    uint32_t app_count, app; /* programs (0, 1: one alone), and which of them this process runs */
    struct run_app apps[RUN_APPS_MAX]; /* if there are several */
    struct platform_config platform;
    int32_t compute; /* enum run_compute */
    int32_t host;    /* enum run_host */
    int32_t stacks;  /* 0 auto, 1 own, 2 shared */
    int32_t labels;
    int32_t progress;    /* draw a progress line */
    int32_t quiet;       /* no warnings */
    int32_t only_error;  /* standard output is for results: ranks write to standard error */
    int32_t random;      /* random schedule */
    uint64_t seed;       /* of the random schedule */
    uint64_t stack_size; /* bytes, 0: default */
    vtime idle_limit;
    int64_t epoch;
    int32_t entropy_real;  /* the system's random bytes are real */
    uint64_t entropy_seed; /* else they are derived from this and the rank */
    uint32_t needs;        /* bits of enum mpi_need: parts that the program's imports ask for */
    uint64_t universe;     /* maximum number of ranks, including spawned ones, or 0: see run_room */
    uint64_t memory_reserve; /* to stay free, 0 or RUN_MEMORY_AUTO (run/memory_need.h) */
    int32_t spread;          /* its processes may be on several computers (--launcher) */
    int32_t asan;            /* the program was built with AddressSanitizer */
    int32_t detail;          /* per-rank, per-function statistics wanted (--stats given) */
    int32_t payload;         /* enum run_payload */
    int32_t check;       /* compare types of messages and arguments of collectives between ranks */
    int32_t check_leaks; /* report objects that the program did not free */
    uint32_t procs;      /* native processes */
    double factor;       /* real time for each virtual time (mpi/main/emulate.h); 0: none */
    int32_t factor_dynamic; /* it adapts; `factor` is then 1 */
    /* The number of ranks, the last ones, whose processes are on other computers or of other
     * programs, and the first of their connections (vp/remote.h). */
    uint32_t remote_count;
    int32_t remote_fd;
    int32_t remote_here; /* this process is to become one of them */
    int32_t live;        /* ranks stand for processes outside (mpi/main/live.h) */
    int32_t placement;   /* of ranks on them: enum rank_map_kind (engine/rank_map.h) */
    int32_t changed;     /* settings differ from what the platform says (--set) */
    int32_t machine_fd;  /* the machine as bytes: platform_unpack (lists.h) */
    int32_t book_fd;     /* the file that holds pending output (engine/output_book.h), or -1 */
    int64_t book_at;     /* offset of that in the file; if processes share it, a ledger follows */
    int32_t rank_map_fd; /* RANK_MAP_LIST: a file with the process of each rank, 32 bits each */
    char native_path[4096];  /* the native MPI library, if procs > 1 or live */
    char stats_path[4096];   /* absolute or empty */
    char compute_path[4096]; /* RUN_COMPUTE_TABLE, _REPLAY, and may be _COUNTERS: absolute */
    char record_path[4096];  /* where compute times are recorded: absolute or empty */
    int32_t trace_sites;     /* with the call site of each call */
    int32_t trace_profile;   /* statistics alone, no events */
    char trace_path[4096];   /* where calls are recorded: absolute or empty; see run_trace_part */
    char pcap_path[4096];    /* folder for captured packets: absolute or empty */
    char pcap_at[1024];      /* where they are captured: patterns */
    char vectors_path[4096]; /* file for values over time: absolute or empty */
    char vectors_at[1024];   /* which values: patterns; empty: none are recorded */
    char sample[512];        /* REGION:RUNS,... */
    char counter[24];        /* RUN_COMPUTE_COUNTERS: which one; empty: instructions */
    char program[4096];
    char platform_given[256],
        settings_given[4096]; /* --platform and --set, for the trace; empty: none */
    char host_reason[128];
};

#define RUN_RANKS_MAX 2147483647 /* a rank is an int */
#define RUN_SPARES 1024          /* ranks that may be spawned if `universe` is 0 */

/* The path of the part of the trace that a process writes; the command merges the parts. */
static inline int run_trace_part(char *out, size_t n, const char *trace_path, unsigned proc)
{
    return snprintf(out, n, "%s.part-%u", trace_path, proc);
}

/* The program of a rank that the run begins with. */
static inline uint32_t run_app_of(const struct run_options *o, uint64_t rank)
{
    uint64_t next = 0;

    for (uint32_t i = 0; o->app_count > 1 && i < o->app_count; i++) {
        next += o->apps[i].ranks;
        if (rank < next)
            return i;
    }
    return o->app;
}

/* The most ranks that there may be, including spawned ones. */
static inline uint64_t run_room(const struct run_options *o)
{
    uint64_t most = o->universe ? o->universe : o->ranks + RUN_SPARES;

    if (!(o->needs & MPI_NEED_SPAWN) || o->app_count > 1)
        return o->ranks;
    return most < RUN_RANKS_MAX ? most : RUN_RANKS_MAX;
}
/* The number of ranks for which the machine has nodes; all further ranks share these nodes. */
static inline uint64_t run_fit(const struct run_options *o)
{
    return o->universe ? o->universe : o->ranks;
}

/* Why the run ended. */
enum run_cause {
    RUN_CAUSE_NONE = 0, /* the library did not say: the process died */
    RUN_CAUSE_DONE,     /* all ranks ended */
    RUN_CAUSE_ABORT,    /* MPI_Abort */
    RUN_CAUSE_STUCK,    /* deadlock or livelock */
    RUN_CAUSE_CRASH,    /* a signal in a rank */
    RUN_CAUSE_INTERNAL,
    RUN_CAUSE_SIGNAL, /* a signal asked it to end, or nobody reads its output */
    RUN_CAUSE_INPUT,  /* the user's input makes it impossible to continue */
    RUN_CAUSE_MEMORY, /* too little memory is left */
};

/* The message that a signal ended the run, with its number and name. */
#define RUN_SIGNAL_TEXT "interrupted by signal %d (%s): the run is not complete"

/* What a program did besides sending messages. */
struct run_access {
    uint64_t io_ops[2], io_bytes[2]; /* reads, writes of files */
    vtime io_time;                   /* in MPI-IO calls, over all ranks; saturates */
    uint64_t rma_ops, rma_bytes;     /* one-sided operations and what they moved */
};

static inline void run_access_add(struct run_access *to, const struct run_access *from)
{
    for (int k = 0; k < 2; k++) {
        to->io_ops[k] += from->io_ops[k];
        to->io_bytes[k] += from->io_bytes[k];
    }
    if (__builtin_add_overflow(to->io_time, from->io_time, &to->io_time))
        to->io_time = VTIME_NEVER;
    to->rma_ops += from->rma_ops;
    to->rma_bytes += from->rma_bytes;
}

/* How computing counts in a process outside: a bit of run_live.counted for each. */
enum run_counted { RUN_COUNTED_WALL = 1, RUN_COUNTED_PROCESSOR = 2, RUN_COUNTED_NONE = 4 };

/* A node sent faster than its link allows, as a model without contention lets it. */
struct run_overcommit {
    uint32_t ranks; /* that did; 0: none */
    uint32_t rank;  /* the one that did most */
    vtime at;       /* when it began */
    vtime took;     /* what it sent left in this time, */
    vtime needs;    /* in which the link needs this */
};

/* With processes outside. */
struct run_live {
    uint64_t inversions; /* messages that a receive from any source got after a later one */
    uint64_t forced;     /* decisions that were taken before they were certain */
    uint64_t late;       /* messages that entered a network with contention late */
    vtime late_most;     /* the most by which one was late */
    uint64_t counted;    /* enum run_counted */
    vtime kept;          /* the longest that a process waited for a processor */
};

static inline void run_live_add(struct run_live *to, const struct run_live *from)
{
    to->inversions += from->inversions;
    if (from->forced > to->forced) /* all processes take such a step */
        to->forced = from->forced;
    to->late += from->late;
    if (from->late_most > to->late_most)
        to->late_most = from->late_most;
    to->counted |= from->counted;
    if (from->kept > to->kept)
        to->kept = from->kept;
}

/* Who owns the progress line (now.line). It may be taken only if it is neither busy nor held. */
enum run_line {
    RUN_LINE_NONE = 0, /* there is none */
    RUN_LINE_DRAWN,
    RUN_LINE_BUSY, /* the watcher draws or erases it */
    RUN_LINE_HELD, /* the program is writing, or has begun a line: do not draw */
};
#define RUN_LINE_ERASE "\r\033[K"

/*
 * A request of the program to the watcher, which it wakes by SIGCHLD. Finding the function, file
 * and line of an address takes long and may fail in a program whose memory is damaged, so the
 * watcher does it.
 */
enum run_ask { RUN_ASK_NOTHING = 0, RUN_ASK_BACKTRACE, RUN_ASK_SPILL };
#define RUN_FRAMES 48

struct run_question {
    volatile uint32_t what; /* enum run_ask; the watcher resets it to 0 and wakes the waiters */
    int32_t pid;            /* RUN_ASK_BACKTRACE: the process to which the addresses belong */
    int32_t exact;          /* the first address is that of an instruction, not a return address */
    uint32_t count;
    uint64_t frames[RUN_FRAMES];
    char answer[6000]; /* lines of text */
};

#define RUN_TRAFFIC_WORDS 80
#define RUN_TREND_BINS 32

/* What an emulation measured (emulate/pace.h); times are simulated. */
struct run_emulated {
    double factor, factor_least, factor_most; /* mean, and in between; 0: time did not begin */
    uint64_t overhead_ns;                     /* of a call, which is compensated */
    uint64_t expected, unexpected;            /* messages that met a posted receive, and others */
    uint64_t events, late_calls;
    vtime max_behind, max_late;
    vtime lost;                               /* by which all calls together were late */
    vtime tolerance;                          /* events that late are in time for this network */
    vtime trend_width, trend[RUN_TREND_BINS]; /* the latest event by when it was due */
    uint32_t trend_bins, cores;
};

struct run_page {
    uint32_t magic, size;
    struct run_options opt;
    int32_t watcher; /* process id of the watcher */
    struct run_question ask;
    struct { /* the program is about to end with this message, if it still can */
        volatile int32_t status; /* exit status; 0: it is not about to end */
        char text[8192];
    } dying;
    struct {
        volatile uint64_t ranks_started, ranks_done, messages, bytes, current_rank, switches;
        volatile vtime clock;               /* of the rank that ran last */
        volatile uint64_t memory_elsewhere; /* process 0: memory of the other processes, in bytes */
        /* Increments while the scheduler is alive, even if it only waits. */
        volatile uint64_t beats;
        volatile int32_t current_pid; /* of the rank that runs, if it is a process; else 0 */
        /* Of the process that starts ranks, if they are processes; else 0. */
        volatile int32_t zygote_pid;
        volatile uint32_t proc;        /* number of this process, once `joined` is set */
        volatile uint32_t joined;      /* `proc` is known */
        volatile uint32_t ended;       /* no rank here runs any more */
        _Atomic uint32_t line;         /* enum run_line */
        volatile int32_t aborting;     /* a rank has aborted the run, which will end soon */
        volatile int32_t crashing;     /* a rank has, and a core file may take its time */
        volatile uint64_t memory_left; /* so little that the run must end; 0: enough */
        volatile uint64_t memory_use;  /* of the ranks' processes, as far as it is known */
    } now;
    struct {
        int32_t cause;       /* enum run_cause */
        int32_t exit_status; /* what `orrery run` returns */
        vtime virtual_time;  /* largest final clock */
        uint64_t spawned;    /* ranks */
        uint64_t messages, bytes, switches, own_stacks;
        uint64_t private_bytes; /* of a rank, if it changed all of it */
        uint64_t swapped_bytes; /* the part of it that is copied at every switch */
        uint64_t live_stack_max;
        uint64_t bad_rank;     /* the rank exit_status is from, if it is not 0 */
        double startup_s;      /* host seconds before the first rank ran */
        double median_slice_s; /* host time between two MPI calls; 0: not measured */
        double computed_s;     /* host time in which slices of all ranks ran */
        double left_out_s;     /* host time in which they had no processor, which is not charged */
        /* Of all processes, including those of ranks, if there are several; else 0. */
        uint64_t peak_rss_bytes;
        uint64_t peak_rss_max; /* of the largest of them */
        uint64_t rounds;       /* common quiescences */
        uint64_t batches;      /* batches of messages between processes */
        struct run_access access;
        struct run_emulated emulated;
        struct run_live live;
        struct run_overcommit overcommit;
        int32_t has_traffic; /* the network model has counted: a struct net_traffic (net/net.h) */
        uint64_t traffic[RUN_TRAFFIC_WORDS];
        int32_t net_split; /* enum net_split (net/net.h): what the model needs */
        int32_t pairs_aggregated;
        int32_t stats_failed;
        uint32_t findings; /* of --check, likewise */
        uint32_t leaks;    /* distinct leaks found, if they are the reason for exit_status */
    } end;
};

#endif
