/*
 * files.h - random use of files: each member writes blocks in some way, and reads what others have
 * written in another.
 */
#ifndef TESTS_RANDOM_FILES_H
#define TESTS_RANDOM_FILES_H

#include "comms.h"

enum { BLOCK = 24, BLOCKS = 3 }; /* longs of a block; blocks of a member */
enum file_write {
    WRITE_AT,
    WRITE_AT_ALL,
    WRITE_SEEK,
    WRITE_ALL,
    WRITE_LATER,
    WRITE_LATER_ALL,
    WRITE_SPLIT,
    WRITE_LATER_VIEW,
    WRITE_AT_SPLIT,
    WRITE_ORDERED,
    WRITE_ORDERED_SPLIT,
    WRITE_SHARED,
    WRITE_LATER_SHARED,
    WRITES
};

/* Communicators of one entry must not use the same file. */
static void file_name(const struct comm *c, char *name, size_t room)
{
    int first = run.rank;
    MPI_Bcast(&first, 1, MPI_INT, 0, c->comm);
    snprintf(name, room, "random-%llu-%d-%d.dat", (unsigned long long)run.seed, run.action, first);
}

static void file_fill(const struct comm *c, long *block, int i)
{
    block[0] = c->rank;
    block[1] = i;
    for (int k = 2; k < BLOCK; k++)
        block[k] = value_of(c->rank, i * BLOCK + k, (uint64_t)run.action);
}

static int file_is_block(const long *block, int member, int i)
{
    int wrong = block[0] != member || block[1] != i;
    for (int k = 2; k < BLOCK; k++)
        wrong += block[k] != value_of(member, i * BLOCK + k, (uint64_t)run.action);
    return !wrong;
}

/* Block i of all members is contiguous: a member's blocks are `size` apart. */
static void file_view(const struct comm *c, MPI_File f)
{
    MPI_Datatype block, blocks;
    MPI_Type_contiguous(BLOCK, MPI_LONG, &block);
    MPI_Type_create_resized(block, 0, (MPI_Aint)((size_t)c->size * BLOCK * sizeof(long)), &blocks);
    MPI_Type_commit(&blocks);
    MPI_File_set_view(f, (MPI_Offset)((size_t)c->rank * BLOCK * sizeof(long)), MPI_LONG, blocks,
                      "native", MPI_INFO_NULL);
    MPI_Type_free(&block);
    MPI_Type_free(&blocks);
}

static void file_write(const struct comm *c, MPI_File f, int how, struct draw *own)
{
    long data[BLOCKS * BLOCK];
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    for (int i = 0; i < BLOCKS; i++)
        file_fill(c, data + i * BLOCK, i);
    switch ((enum file_write)how) {
    case WRITE_ALL:
        file_view(c, f);
        MPI_File_write_all(f, data, BLOCKS * BLOCK, MPI_LONG, &s);
        return;
    case WRITE_SPLIT:
        file_view(c, f);
        MPI_File_write_all_begin(f, data, BLOCKS * BLOCK, MPI_LONG);
        spend(own);
        MPI_File_write_all_end(f, data, &s);
        return;
    case WRITE_LATER_VIEW:
        file_view(c, f);
        MPI_File_iwrite_all(f, data, BLOCKS * BLOCK, MPI_LONG, &r);
        spend(own);
        MPI_Wait(&r, &s);
        return;
    default:
        break;
    }
    for (int i = 0; i < BLOCKS; i++) {
        MPI_Offset at = (MPI_Offset)((size_t)(i * c->size + c->rank) * BLOCK * sizeof(long));
        const long *b = data + i * BLOCK;
        spend(own);
        if (how == WRITE_AT)
            MPI_File_write_at(f, at, b, BLOCK, MPI_LONG, &s);
        else if (how == WRITE_AT_ALL)
            MPI_File_write_at_all(f, at, b, BLOCK, MPI_LONG, &s);
        else if (how == WRITE_SEEK) {
            MPI_File_seek(f, at, MPI_SEEK_SET);
            MPI_File_write(f, b, BLOCK, MPI_LONG, &s);
        } else if (how == WRITE_LATER)
            MPI_File_iwrite_at(f, at, b, BLOCK, MPI_LONG, &r);
        else if (how == WRITE_LATER_ALL)
            MPI_File_iwrite_at_all(f, at, b, BLOCK, MPI_LONG, &r);
        else if (how == WRITE_AT_SPLIT) {
            MPI_File_write_at_all_begin(f, at, b, BLOCK, MPI_LONG);
            spend(own);
            MPI_File_write_at_all_end(f, b, &s);
        } else if (how == WRITE_ORDERED)
            MPI_File_write_ordered(f, b, BLOCK, MPI_LONG, &s);
        else if (how == WRITE_ORDERED_SPLIT) {
            MPI_File_write_ordered_begin(f, b, BLOCK, MPI_LONG);
            spend(own);
            MPI_File_write_ordered_end(f, b, &s);
        } else if (how == WRITE_SHARED)
            MPI_File_write_shared(f, b, BLOCK, MPI_LONG, &s);
        else
            MPI_File_iwrite_shared(f, b, BLOCK, MPI_LONG, &r);
        MPI_Wait(&r, &s);
    }
}

/* Everybody reads everything. Blocks of the shared pointer are in any order. */
static void file_read(const struct comm *c, MPI_File f, int how, int is_ordered)
{
    int blocks = BLOCKS * c->size, all = blocks * BLOCK, seen = 0;
    long *data = calloc((size_t)all, sizeof *data);
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status s;
    MPI_File_set_view(f, 0, MPI_LONG, MPI_LONG, "native", MPI_INFO_NULL);
    if (how == 0)
        MPI_File_read_at_all(f, 0, data, all, MPI_LONG, &s);
    else if (how == 1)
        MPI_File_read_all(f, data, all, MPI_LONG, &s);
    else if (how == 2)
        MPI_File_read_at(f, 0, data, all, MPI_LONG, &s);
    else if (how == 3)
        MPI_File_iread(f, data, all, MPI_LONG, &r);
    else if (how == 4)
        MPI_File_iread_all(f, data, all, MPI_LONG, &r);
    else if (how == 5)
        MPI_File_iread_at(f, 0, data, all, MPI_LONG, &r);
    else {
        MPI_File_read_all_begin(f, data, all, MPI_LONG);
        MPI_File_read_all_end(f, data, &s);
    }
    if (r != MPI_REQUEST_NULL)
        MPI_Wait(&r, &s);
    MPI_Get_count(&s, MPI_LONG, &seen);
    CHECK(seen == all);
    for (int i = 0; i < blocks; i++) {
        const long *b = data + i * BLOCK;
        int member = is_ordered ? i % c->size : (int)b[0], n = is_ordered ? i / c->size : (int)b[1];
        CHECK(member >= 0 && member < c->size && n >= 0 && n < BLOCKS);
        CHECK(file_is_block(b, member, n));
        run.sum += (uint64_t)b[BLOCK - 1];
        note((uint64_t)member);
    }
    free(data);
}

/* Each block is read by one member, whoever comes first. */
static void file_share(const struct comm *c, MPI_File f, struct draw *own)
{
    long b[BLOCK];
    MPI_Status s;
    MPI_File_set_view(f, 0, MPI_LONG, MPI_LONG, "native", MPI_INFO_NULL);
    MPI_File_seek_shared(f, 0, MPI_SEEK_SET);
    for (int i = 0; i < BLOCKS; i++) {
        int seen;
        spend(own);
        MPI_File_read_shared(f, b, BLOCK, MPI_LONG, &s);
        MPI_Get_count(&s, MPI_LONG, &seen);
        CHECK(seen == BLOCK && b[0] >= 0 && b[0] < c->size && b[1] >= 0 && b[1] < BLOCKS);
        CHECK(file_is_block(b, (int)b[0], (int)b[1]));
        run.sum += (uint64_t)b[BLOCK - 1];
        note((uint64_t)(b[0] * BLOCKS + b[1]));
    }
}

static void act_files(const struct comm *c)
{
    struct draw d = draw_shared(), own = draw_own();
    int write = (int)draw(&d, WRITES), read = (int)draw(&d, 8);
    char name[128];
    MPI_File f;
    file_name(c, name, sizeof name);
    spend(&own);
    int rc = MPI_File_open(c->comm, name,
                           MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &f);
    CHECK(rc == MPI_SUCCESS);
    file_write(c, f, write, &own);
    MPI_File_sync(f);
    MPI_Barrier(c->comm);
    if (read == 7)
        file_share(c, f, &own);
    else
        file_read(c, f, read, write < WRITE_SHARED);
    MPI_File_close(&f);
}

#endif
