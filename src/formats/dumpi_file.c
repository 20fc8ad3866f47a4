/*
 * dumpi_file.c - reads the file of one rank. Nothing is trusted: every length is compared with the
 * bytes that are left.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "formats/dumpi_file.h"

#define BODY 8 /* the body follows the magic number */
#define INDEX_BYTES (8 * 8)

/* ---- numbers; `at` becomes NULL when the file ends ---- */

static uint64_t get(const uint8_t **at, const uint8_t *end, unsigned bytes)
{
    uint64_t value = 0;
    if (!*at || (size_t)(end - *at) < bytes) {
        *at = NULL;
        return 0;
    }
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | (*at)[i];
    *at += bytes;
    return value;
}

static int64_t get_signed(const uint8_t **at, const uint8_t *end, unsigned bytes)
{
    uint64_t value = get(at, end, bytes);
    return bytes == 4 ? (int32_t)value : (int64_t)value;
}

static char *get_string(const uint8_t **at, const uint8_t *end)
{
    size_t length = (size_t)get(at, end, 2);
    if (!*at || length > (size_t)(end - *at)) {
        *at = NULL;
        return NULL;
    }
    char *text = mem_alloc(length + 1);
    memcpy(text, *at, length);
    text[length] = '\0';
    *at += length;
    return text;
}

/* ---- tables ---- */

static const uint8_t *table_at(const struct dumpi_file *f, uint64_t offset)
{
    return offset >= BODY && offset < f->size ? f->data + offset : NULL;
}

static void read_header(struct dumpi_file *f, const uint8_t *at, const uint8_t *end)
{
    unsigned a = (unsigned)get(&at, end, 1), b = (unsigned)get(&at, end, 1),
             c = (unsigned)get(&at, end, 1);
    if (!at)
        return;
    f->version = (int)DUMPI_VERSION(a, b, c);
    get(&at, end, 8);
    f->host = get_string(&at, end);
}

static void read_sizes(struct dumpi_file *f, const uint8_t *at, const uint8_t *end)
{
    uint64_t count = get(&at, end, 4);
    if (!at || count > (uint64_t)(end - at) / 4)
        return;
    f->sizes = mem_alloc((count + 1) * sizeof *f->sizes);
    for (; f->size_count < count; f->size_count++)
        f->sizes[f->size_count] = (uint32_t)get(&at, end, 4);
}

static void read_addresses(struct dumpi_file *f, const uint8_t *at, const uint8_t *end)
{
    uint64_t count = get(&at, end, 4);
    for (uint64_t i = 0; at && i < count; i++) {
        uint64_t address = get(&at, end, 8);
        char *name = at ? get_string(&at, end) : NULL;
        if (!name)
            return;
        ARRAY_EXTEND(f->addresses, f->address_count);
        f->addresses[f->address_count++] = (struct dumpi_address){address, name};
    }
}

/* Older files have fewer offsets, so the magic number is later. Sizes, addresses and counters come
 * before it. */
static void read_index(struct dumpi_file *f)
{
    const uint8_t *end = f->data + f->size, *at;
    uint64_t offsets[7] = {0};
    for (unsigned missing = 0; missing < 4; missing++) {
        size_t bytes = INDEX_BYTES - 8 * missing;
        if (f->size < BODY + bytes)
            continue;
        at = end - bytes;
        if (get(&at, end, 8) != DUMPI_MAGIC)
            continue;
        for (unsigned i = missing; i < 7; i++)
            offsets[i] = get(&at, end, 8);
        f->is_whole = 1;
        f->end = end - bytes;
        break;
    }
    if (!f->is_whole)
        return;
    if ((at = table_at(f, offsets[3])))
        read_header(f, at, end), f->end = at;
    if ((at = table_at(f, offsets[0])))
        read_sizes(f, at, end);
    if ((at = table_at(f, offsets[1])))
        read_addresses(f, at, end);
}

static void rewind_file(struct dumpi_file *f)
{
    f->at = f->data + BODY;
    f->cpu = get_signed(&f->at, f->end, 4);
    f->wall = get_signed(&f->at, f->end, 4);
}

int dumpi_file_open(struct dumpi_file *f, const char *path, int version, struct err *err)
{
    struct stat st;
    *f = (struct dumpi_file){.version = version};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        err_set(err, ERR_SYSTEM, "cannot read '%s': %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return ERR_SYSTEM;
    }
    f->size = (size_t)st.st_size;
    void *data = f->size ? mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    const uint8_t *at = data == MAP_FAILED ? NULL : data;
    if (!at || get(&at, at + f->size, 8) != DUMPI_MAGIC || f->size < BODY + 8) {
        if (data != MAP_FAILED)
            munmap(data, f->size);
        *f = (struct dumpi_file){0};
        return err_set(err, ERR_INPUT, "cannot read '%s': it is not a file of DUMPI", path);
    }
    f->data = data;
    f->end = f->data + f->size;
    read_index(f);
    rewind_file(f);
    return 0;
}

void dumpi_file_close(struct dumpi_file *f)
{
    if (f->data)
        munmap((void *)f->data, f->size);
    for (size_t i = 0; i < f->address_count; i++)
        mem_free(f->addresses[i].name);
    mem_free(f->addresses);
    mem_free(f->sizes);
    mem_free(f->host);
    mem_free(f->items);
    mem_free(f->statuses);
    *f = (struct dumpi_file){0};
}

/* ---- records ---- */

static void keep_item(struct dumpi_file *f, int64_t value)
{
    ARRAY_EXTEND(f->items, f->item_count);
    f->items[f->item_count++] = value;
}

/* Reads the items of an array; each takes at least `bytes`. */
static uint64_t get_count(struct dumpi_file *f, unsigned bytes)
{
    uint64_t count = get(&f->at, f->end, 4);
    if (f->at && count > (uint64_t)(f->end - f->at) / (bytes ? bytes : 1))
        f->at = NULL;
    return f->at ? count : 0;
}

static void read_statuses(struct dumpi_file *f, unsigned mask, struct dumpi_raw *v)
{
    int has_tag = f->version >= DUMPI_VERSION(0, 6, 3);
    v->first = f->status_count;
    if (!(mask & DUMPI_STATUSES))
        return;
    uint64_t count = get_count(f, has_tag ? 14 : 10);
    for (uint64_t i = 0; f->at && i < count; i++) {
        struct dumpi_status s = {.bytes = (uint32_t)get(&f->at, f->end, 4)};
        s.source = (int32_t)get(&f->at, f->end, 4);
        s.is_cancelled = get(&f->at, f->end, 1) != 0;
        get(&f->at, f->end, 1);
        s.tag = has_tag ? (int32_t)get(&f->at, f->end, 4) : -1;
        ARRAY_EXTEND(f->statuses, f->status_count);
        f->statuses[f->status_count++] = s;
    }
    v->count = f->status_count - v->first;
}

static void read_text(struct dumpi_file *f, struct dumpi_raw *v)
{
    v->count = get_count(f, 1);
    v->text = (const char *)f->at;
    if (f->at)
        f->at += v->count;
}

static void read_texts(struct dumpi_file *f, struct dumpi_raw *v)
{
    struct dumpi_raw ignored;
    v->count = get_count(f, 4);
    for (size_t i = 0; f->at && i < v->count; i++)
        read_text(f, &ignored);
}

static void read_array(struct dumpi_file *f, unsigned width, struct dumpi_raw *v)
{
    uint64_t count = get_count(f, width);
    v->first = f->item_count;
    for (uint64_t i = 0; f->at && i < count; i++)
        keep_item(f, get_signed(&f->at, f->end, width));
    v->count = f->item_count - v->first;
}

/* Old versions wrote one number instead of an array by mistake. */
static int was_number(const struct dumpi_file *f, const struct dumpi_field *field)
{
    return field->name &&
           ((f->version < DUMPI_VERSION(0, 6, 8) && strcmp(field->name, "coords") == 0) ||
            (f->version < DUMPI_VERSION(0, 6, 9) &&
             strcmp(field->name, "array_of_displacements") == 0));
}

static void read_field(struct dumpi_file *f, const struct dumpi_field *field, int is_fixed,
                       unsigned mask, struct dumpi_raw *v)
{
    struct dumpi_raw ignored = {0};
    *v = (struct dumpi_raw){.is_there = 1};
    switch (field->primitive) {
    case DUMPI_STATUS:
        read_statuses(f, mask, v);
        break;
    case DUMPI_TEXT:
        read_text(f, v);
        break;
    case DUMPI_TEXTS:
        v->number = (int64_t)get(&f->at, f->end, 4);
        f->at = f->at ? f->at - 4 : NULL;
        if (f->version < DUMPI_VERSION(0, 6, 2))
            get(&f->at, f->end, 4); /* it was there twice */
        read_texts(f, v);
        break;
    case DUMPI_TEXTS_OF:
        v->count = get_count(f, 4);
        for (size_t i = 0; f->at && i < v->count; i++)
            read_texts(f, &ignored);
        break;
    case DUMPI_ROWS:
        v->count = get_count(f, 4);
        for (size_t i = 0; f->at && i < v->count; i++)
            read_array(f, 4, &ignored);
        v->count = 0;
        break;
    case DUMPI_ARRAY:
        if (is_fixed || !was_number(f, field)) {
            read_array(f, field->width, v);
            break;
        }
        v->first = f->item_count;
        keep_item(f, get_signed(&f->at, f->end, 4));
        v->count = 1;
        break;
    default:
        v->number = get_signed(&f->at, f->end, field->width);
    }
}

static int read_fields(struct dumpi_file *f, const struct dumpi_layout *l, unsigned mask,
                       struct dumpi_record *r)
{
    int64_t rank = -1, root = -2;
    char name[64];
    /* only these two functions had the mistakes */
    dumpi_function_name(r->function, name, sizeof name);
    int is_fixed = strcmp(name, "MPI_Cart_get") != 0 && strcmp(name, "MPI_Type_struct") != 0;
    for (unsigned i = 0; i < l->count; i++) {
        const struct dumpi_field *field = &l->fields[i];
        r->values[i] = (struct dumpi_raw){0};
        if (field->at_root && rank != root)
            continue;
        read_field(f, field, is_fixed, mask, &r->values[i]);
        if (!f->at)
            return -1;
        if (field->primitive == DUMPI_COMM_RANK)
            rank = r->values[i].number;
        else if (field->name && strcmp(field->name, "root") == 0)
            root = r->values[i].number;
    }
    return 1;
}

static int64_t read_time(struct dumpi_file *f, int64_t offset)
{
    int64_t seconds = (int64_t)get(&f->at, f->end, 2) + offset;
    return seconds * 1000000000 + (int64_t)get(&f->at, f->end, 4);
}

int dumpi_file_next(struct dumpi_file *f, const struct dumpi_layout *layouts,
                    struct dumpi_record *r)
{
    const uint8_t *from = f->at;
    if (!f->at)
        return -1;
    if (f->at == f->end && !f->is_whole)
        return -1;
    r->function = (unsigned)get(&f->at, f->end, 2);
    if (f->at && r->function == DUMPI_END_OF_STREAM)
        return 0;
    unsigned mask = (unsigned)get(&f->at, f->end, 1);
    f->item_count = f->status_count = 0;
    r->thread = mask & DUMPI_THREAD ? (unsigned)get(&f->at, f->end, 2) : 0;
    r->enter = r->leave = -1;
    r->has_cpu = (mask & DUMPI_CPU) != 0;
    if (mask & DUMPI_CPU)
        r->enter = read_time(f, f->cpu), r->leave = read_time(f, f->cpu);
    if (mask & DUMPI_WALL)
        r->enter = read_time(f, f->wall), r->leave = read_time(f, f->wall);
    if (mask & DUMPI_COUNTERS) {
        uint64_t bytes = 16 * get(&f->at, f->end, 1);
        if (f->at)
            f->at = bytes <= (uint64_t)(f->end - f->at) ? f->at + bytes : NULL;
    }
    int rc = -1;
    if (f->at && (r->function == DUMPI_FUNCTION_ENTER || r->function == DUMPI_FUNCTION_EXIT)) {
        r->address = get(&f->at, f->end, 8);
        rc = f->at ? 1 : -1;
    } else if (f->at && r->function < dumpi_functions() && layouts[r->function].fn >= 0) {
        rc = read_fields(f, &layouts[r->function], mask, r);
    }
    if (rc < 0)
        f->at = f->end = from; /* nothing more can be read */
    return rc;
}
