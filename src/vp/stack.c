/*
 * stack.c - maps stacks with guards, all of one size.
 *
 *     low |guard|              ....              | top
 *
 * The guard uses only address space. It is larger than any frame should be, so that a function that
 * jumps past the end of the stack still faults there.
 */
#include <stdint.h>
#include <sys/mman.h>

#include "vp/crash.h"
#include "vp/host.h"

#define SIZE_DEFAULT ((size_t)8 << 20)
#define SIZE_MIN ((size_t)64 << 10)
#define GUARD ((size_t)256 << 20)
#define PAGE ((size_t)4096)

static struct {
    size_t size;
    int exec;
} stack;

void vp_stack_init(size_t size, int exec)
{
    if (size == 0)
        size = SIZE_DEFAULT;
    if (size < SIZE_MIN)
        size = SIZE_MIN;
    stack.size = (size + PAGE - 1) / PAGE * PAGE;
    stack.exec = exec;
}

size_t vp_stack_size(void)
{
    return stack.size;
}

size_t vp_stack_mapped(void)
{
    return GUARD + stack.size;
}

char *vp_stack_map(struct err *err)
{
    int access = PROT_READ | PROT_WRITE | (stack.exec ? PROT_EXEC : 0);
    size_t bytes = vp_stack_mapped();
    char *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p != MAP_FAILED && mprotect(p + GUARD, stack.size, access) == 0)
        return p + bytes;
    if (p != MAP_FAILED)
        munmap(p, bytes);
    err_set(err, ERR_MEMORY, "cannot map a stack of %zu bytes; give a smaller --stack", stack.size);
    return NULL;
}

/* A rank may start a little below the top of the mapping (cache colouring), by less than a page.
 * Whatever is next to the guard may be the program's. */
int vp_stack_overflowed(const struct vp_rank *f, const void *addr)
{
    uintptr_t top = ((uintptr_t)vp_private.host->stack_top(f) + PAGE - 1) / PAGE * PAGE;
    uintptr_t end = top - stack.size, at = (uintptr_t)addr;

    return at < end && at >= end - GUARD;
}
