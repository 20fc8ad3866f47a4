/*
 * proc_link.h - the link between the processes of one simulation.
 *
 * A link carries messages between processes, reliably and in order for each pair. The real one uses
 * the native MPI, opened at run time by its path and bound to its own libraries, so that it can
 * coexist with the virtual MPI in one process. Tests use other links.
 *
 * All functions are called in scheduler context.
 */
#ifndef ENGINE_PROC_LINK_H
#define ENGINE_PROC_LINK_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Memory for a message, which links send without copying. Free with proc_link_free. */
void *proc_link_alloc(size_t bytes) __attribute__((malloc, returns_nonnull));
void proc_link_free(void *data);
/* proc_link_alloc, filled with a copy of `from`. */
void *proc_link_copy(const void *from, size_t bytes) __attribute__((malloc, returns_nonnull));

struct proc_link {
    void *owner;
    uint32_t proc, procs; /* this process, and how many there are */
    int crowded;          /* more processes than processors on this machine */
    int wakes;            /* `wait` ends as soon as any process has sent something to this one */
    /* Sends `bytes` at data, which is from proc_link_alloc; the link frees it once it is sent. */
    void (*send)(void *owner, uint32_t to, int tag, void *data, size_t bytes);
    /* Takes the next message, if there is one: returns 1 with data that the caller must
     * proc_link_free. */
    int (*recv)(void *owner, uint32_t *from, int *tag, void **data, size_t *bytes);
    /* After a look that found nothing: sleeps for ns nanoseconds, or until something may have
     * arrived. */
    void (*wait)(void *owner, uint64_t ns);
    /* Shows a word to processes on the same machine, and reads theirs; 1 if that one is
     * elsewhere. */
    void (*show)(void *owner, uint64_t word);
    uint64_t (*shown)(void *owner, uint32_t which);
    /* Moves this process to the processor that the processes of a machine have in common, or lets
     * it run on any again. NULL: it cannot. */
    void (*gather)(void *owner, int together);
    /* Nothing more will be sent: waits until all processes say so, and closes. */
    void (*close)(void *owner);
};

/*
 * Opens the MPI library at `path`, whose mpiexec started this process, and initialises it. Fills
 * the link. ERR_SYSTEM if the library cannot be opened or lacks a function.
 */
int proc_link_open(struct proc_link *, const char *path, struct err *);

/*
 * Fills the link in a process whose program uses that MPI itself, and has initialised it: `find`
 * returns a function by the name that begins with PMPI_. All processes of MPI_COMM_WORLD call this
 * or proc_link_open; closing does not finalise the MPI.
 */
int proc_link_join(struct proc_link *, void *(*find)(const char *symbol), struct err *);

#endif
