/*
 * dumpi.h - DUMPI, the trace format of SST: what its parts share.
 *
 * A trace is a file PREFIX.meta with lines KEY=VALUE, and for each rank a file PREFIX-0003.bin.
 * Numbers are big-endian. A file starts with the magic number, followed by:
 *
 *     body       u32 and u32: seconds that are added to all CPU and wall times; then records,
 *                until END OF STREAM
 *     header     u8 version[3], u64 start, string host, string user, u32 n, u32 mesh position[n],
 *                u32 n, u32 mesh size[n]
 *     footer     u64 magic, u32 calls of each function, and of all; u32 those that were left out
 *     keyval     u32 number of pairs, and the pairs as strings
 *     counters   u32 number of performance counters, and their labels as strings
 *     sizes      u32 number of datatypes, and u32 size of each
 *     addresses  u32 number of the program's functions, u64 address and string name of each
 *     index      magic number, then the offsets of sizes, addresses, counters, header, body,
 *                footer, keyval
 *
 *     record     u16 function, u8 what follows, [u16 thread], [CPU times], [wall times],
 *                [counters], arguments
 *     times      u16 seconds, u32 nanoseconds at which the call began; the same for its end
 *     string     u16 length, bytes
 *
 * Records have no length: the reader must know the arguments of each function. They are derived
 * from the roles in the API list, in the order of the function's prototype; a table has the
 * functions that differ (dumpi_layout.c).
 */
#ifndef FORMATS_DUMPI_H
#define FORMATS_DUMPI_H

#include "formats/formats.h"
#include "trace/schema.h"

#define DUMPI_MAGIC UINT64_C(0xffaadd44554d5049)
#define DUMPI_FOOTER_MAGIC UINT64_C(0xf007fee7)
#define DUMPI_FIELDS_MAX 24

/* Versions at which something changed: 10000 x version + 100 x subversion + subsubversion. */
#define DUMPI_VERSION(a, b, c) ((a)*10000 + (b)*100 + (c))

/* What follows in a record. */
enum dumpi_mask {
    DUMPI_STATUSES = 3,
    DUMPI_CPU = 4,
    DUMPI_WALL = 8,
    DUMPI_THREAD = 64,
    DUMPI_COUNTERS = 128,
};

enum dumpi_primitive {
    DUMPI_INT,   /* `width` bytes */
    DUMPI_ARRAY, /* u32 items, and these of `width` bytes */
    /* u32 statuses, and these: u32 bytes, u32 source, u8 cancelled, u8 error, u32 tag. */
    DUMPI_STATUS,
    DUMPI_TEXT,      /* u32 length, bytes */
    DUMPI_TEXTS,     /* u32 texts, and these */
    DUMPI_TEXTS_OF,  /* u32 lists of texts, and these */
    DUMPI_ROWS,      /* u32 arrays, and these */
    DUMPI_COMM_RANK, /* u32: the caller's rank in the communicator */
    DUMPI_COMM_SIZE,
    DUMPI_LENGTH, /* u32: items of an array that follows */
};

struct dumpi_field {
    uint8_t primitive; /* enum dumpi_primitive */
    uint8_t width;
    uint8_t at_root;  /* only if the caller is the root */
    int8_t arg;       /* index among the recorded arguments, or -1 */
    const char *name; /* of the argument; NULL: none */
    uint8_t role;     /* enum mpi_role */
};

struct dumpi_layout {
    int fn; /* of the schema; -1: unknown */
    unsigned count;
    struct dumpi_field fields[DUMPI_FIELDS_MAX];
};

/* The number of functions, and the numbers after them. */
unsigned dumpi_functions(void);
#define DUMPI_FUNCTION_ENTER (dumpi_functions() + 1)
#define DUMPI_FUNCTION_EXIT (dumpi_functions() + 2)
#define DUMPI_END_OF_STREAM (dumpi_functions() + 3)

/* The name of a function in the API list; functions for requests of files are those for all
 * requests. */
const char *dumpi_function_name(unsigned number, char *text, size_t size);

/* The layouts of all functions for a schema; free them with mem_free. */
struct dumpi_layout *dumpi_layouts_make(const struct trace_schema *);

/* ---- values (dumpi_values.c) ---- */

/* The numbers of datatypes and operations by name; for other names the first number of the
 * program's own. */
unsigned dumpi_type_number(const char *name);
unsigned dumpi_op_number(const char *name);
/* The name, or NULL if it is the program's own. */
const char *dumpi_type_name(unsigned number);
const char *dumpi_op_name(unsigned number);
#define DUMPI_FIRST_TYPE 28
#define DUMPI_FIRST_OP 15
/* Sizes of named datatypes, for files without a table of sizes. */
uint64_t dumpi_type_size(unsigned number);

/* Constants of MPI for which DUMPI has its own numbers, by the argument's name or role. */
int64_t dumpi_value_out(const struct dumpi_field *, int64_t value);
int64_t dumpi_value_in(const struct dumpi_field *, int64_t value);

int dumpi_write(struct trace *, const char *path, struct format_notes *, struct err *);

#endif
