/*
 * io_internal.h - files of the virtual MPI (MPI-4.0 chapter 14).
 *
 * Data goes to the real file at once, in the context of the rank that reads or writes; time follows
 * the model of a file system: each file is striped over servers, a request of a rank is one message
 * to each server it touches, servers handle requests in order of time (server.c). MPI orders
 * conflicting accesses by messages between ranks, so that what is read does not depend on when the
 * ranks are run.
 *
 *     struct io_shared   an open file in this process: descriptor (unless ranks are processes,
 *                        which have their own), communicator, striping; and, used only by the agent
 *                        of the file's first rank, shared pointer and atomic turn
 *     struct io_file     the file as one rank has it (its MPI_File): view, position, hints
 *     struct io_op       a pending access
 *
 * Positions count bytes of data in the view, in the representation of the file: "stream bytes".
 */
#ifndef MPI_IO_INTERNAL_H
#define MPI_IO_INTERNAL_H

#include "mpi/comm/comm.h"
#include "mpi/error.h"
#include "mpi/p2p/p2p_internal.h"
#include "mpi/p2p/service.h"

struct io_datarep;

struct io_shared {
    uint32_t ctx;  /* of its communicator: identifies the file in all processes */
    uint32_t refs; /* ranks of this process that have it open */
    int fd;        /* that all ranks here use; -1 if each has its own */
    int amode;
    char *name;        /* as it was opened */
    char *delete_name; /* absolute; at the first rank, if the file is deleted on close */
    struct mpi_comm *comm;
    uint64_t stripe; /* bytes */
    uint32_t factor; /* number of servers that it is on */
    uint32_t first;  /* the first of these servers */
    /* used by the agent of the first rank */
    int64_t pointer; /* shared file pointer, in stream bytes */
    /* Requests that wait for a turn in atomic mode, oldest first: tail of a ring. */
    struct mpi_msg *turns;
    uint8_t turn_taken;
    uint8_t was_atomic;
};

struct io_view {
    int64_t disp;
    struct mpi_type *etype, *filetype; /* as the program gave them; each held by a ref */
    struct mpi_type *layout;           /* the filetype in the representation of the file; a ref */
    uint64_t etype_bytes;              /* of one etype in the representation of the file */
    const struct io_datarep *rep;
};

struct io_op;

struct io_file {
    struct io_shared *s;
    int fd;           /* the descriptor: s->fd, or its own where ranks are processes */
    MPI_Fint number;  /* in Fortran; 0: none yet */
    MPI_Info hints;   /* the program's, or MPI_INFO_NULL */
    uint32_t pending; /* pending accesses */
    vtime ended;      /* when the last of the others ended */
    struct io_view view;
    int64_t position;    /* individual file pointer, in stream bytes */
    struct io_op *split; /* pending split collective access, or NULL */
    uint8_t split_kind;  /* enum io_kind of that access */
    uint8_t atomic;
};

enum io_kind {
    IO_READ = 0,
    IO_WRITE = 1,
    IO_AT = 2,      /* explicit offset */
    IO_SHARED = 4,  /* shared file pointer */
    IO_ORDERED = 8, /* shared file pointer, in order of ranks */
    IO_ALL = 16,    /* collective */
};

/* The next thing that an access waits for. */
enum io_stage { IO_STAGE_TURN = 0, IO_STAGE_POINTER, IO_STAGE_DATA, IO_STAGE_SINGLE };

struct io_op {
    struct io_file *file;
    struct mpi_req *req; /* to be completed: `own`, or one that the program has */
    struct mpi_req own;
    void *buf;
    uint64_t count;
    struct mpi_type *type;
    int64_t at;       /* where it starts, in stream bytes */
    uint64_t bytes;   /* how much, in stream bytes */
    uint64_t moved;   /* of memory, once it is done */
    vtime last;       /* latest answer */
    uint32_t waiting; /* answers that are to come */
    int error;        /* MPI class */
    uint8_t kind, stage;
    uint8_t turn; /* in atomic mode: has, or waits for, its turn */
};

/* ---- file objects (file.c) ---- */

/* The file of a handle, or NULL after raising MPI_ERR_FILE (*rc). */
struct io_file *io_file_get(struct mpi_rank *self, MPI_File fh, int *rc);
/* The open file with this context here, or NULL. */
struct io_shared *io_shared_find(uint32_t ctx);
/* My rank in the file's communicator. */
static inline int io_my_rank(const struct mpi_rank *self, const struct io_file *f)
{
    return mpi_comm_my_rank(f->s->comm, self);
}
static inline MPI_File io_handle(struct io_file *f)
{
    return (MPI_File)(void *)f;
}
/* Reports a collective call of the rank on the file to --check. */
void io_collective(struct mpi_rank *self, const struct io_file *f);
/* Distributes `n` bytes of the file's first rank to all. May switch; returns an MPI class. */
int io_bcast(struct mpi_rank *self, struct io_file *f, void *data, uint64_t n);
/* An MPI class for an errno. */
int io_error_class(int error);

/* ---- real data (data.c); nothing switches ---- */

/* Opens, across EINTR; a descriptor, or -1 with errno. */
int io_open_fd(const char *name, int amode, int create);
/* Moves the data of op, sets moved and error, and adds the bytes per server of the file to tally[].
 * Returns the stream bytes moved. */
uint64_t io_move(struct mpi_rank *self, struct io_op *op, uint64_t *tally);
int64_t io_size(const struct io_file *f);

/* ---- views (view.c) ---- */
void io_view_init(struct io_view *);
void io_view_fini(struct io_view *);
/* Stream position of the first etype at or after the end of the file. */
int64_t io_view_end(const struct io_file *f);

/* ---- data representations (datarep.c) ---- */
/* By name, as the rank knows it, or NULL. */
const struct io_datarep *io_datarep_find(const struct mpi_rank *self, const char *name);
const char *io_datarep_name(const struct io_datarep *);
/* Does data in memory differ from data in the file? */
int io_datarep_converts(const struct io_datarep *);
/* Bytes of one item in the file; the extent of a type in the file. MPI class in *rc. */
uint64_t io_datarep_size(struct mpi_rank *self, const struct io_datarep *, struct mpi_type *,
                         int *rc);
int64_t io_datarep_extent(struct mpi_rank *self, const struct io_datarep *, struct mpi_type *,
                          int *rc);
/* The filetype in the representation of the file, with a ref for the caller. */
struct mpi_type *io_datarep_layout(struct mpi_rank *self, const struct io_datarep *,
                                   struct mpi_type *filetype, int *rc);
/* Converts `count` items between the program's buffer and the form of the file; an MPI class. */
int io_datarep_write(struct mpi_rank *self, const struct io_datarep *, const void *buf,
                     uint64_t count, struct mpi_type *, void *out);
int io_datarep_read(struct mpi_rank *self, const struct io_datarep *, void *buf, uint64_t count,
                    struct mpi_type *, const void *in);

/* ---- accesses in virtual time (op.c) ---- */

/* Starts the access at time t; it completes op->req. Never switches. */
void io_op_start(struct mpi_rank *self, struct io_op *op, vtime t);
struct io_op *io_op_new(struct io_file *f);
void io_op_free(struct io_op *);
/* Handles an answer to an access. */
void io_op_answer(struct mpi_rank *self, struct io_op *op, const struct mpi_msg *m);
/* One metadata operation on a server, chosen by the name of the file; blocks (may switch). */
void io_metadata(struct mpi_rank *self, uint64_t hash);
/* An empty request to the file's first server; blocks (may switch). */
void io_flush(struct mpi_rank *self, const struct io_file *f);
enum io_pointer { IO_POINTER_ADD, IO_POINTER_SET };
/* Changes the shared file pointer and returns what it was; blocks (may switch). */
int64_t io_pointer(struct mpi_rank *self, struct io_file *f, enum io_pointer, int64_t value);

/* ---- the model (server.c) ---- */

enum io_ask { /* tag of a message to an agent; ctx is the server or the file, bytes the amount */
              IO_ASK_READ,
              IO_ASK_WRITE,
              IO_ASK_METADATA,
              IO_ASK_ADD,
              IO_ASK_SET,
              IO_ASK_TURN,
              IO_ASK_TURN_END,
};
/* MPI_SERVICE_IO. */
void io_serve(struct mpi_rank *self, struct mpi_msg *m, vtime t);
void io_reply(struct mpi_rank *self, struct mpi_msg *m);
uint32_t io_servers(void);
uint64_t io_hash_name(const char *name);
/* Sends a request to server s at time t; the answer goes to the cookie. */
void io_ask_server(struct mpi_rank *self, uint32_t s, enum io_ask, uint64_t bytes, void *cookie,
                   vtime t);
/* Sends a request to the agent of the file's first rank. */
void io_ask_first(struct mpi_rank *self, const struct io_file *f, enum io_ask, int64_t value,
                  void *cookie, vtime t);

/* ---- access calls (access.c) ---- */

int io_blocking(struct mpi_rank *self, MPI_File fh, unsigned kind, MPI_Offset offset, void *buf,
                MPI_Count count, MPI_Datatype datatype, MPI_Status *status);
int io_nonblocking(struct mpi_rank *self, MPI_File fh, unsigned kind, MPI_Offset offset, void *buf,
                   MPI_Count count, MPI_Datatype datatype, MPI_Request *request);
int io_split_begin(struct mpi_rank *self, MPI_File fh, unsigned kind, MPI_Offset offset, void *buf,
                   MPI_Count count, MPI_Datatype datatype);
int io_split_end(struct mpi_rank *self, MPI_File fh, unsigned kind, MPI_Status *status);

#endif
