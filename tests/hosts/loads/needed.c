/* A library that another one needs: how often it was constructed and called in this rank. */
#include <stdio.h>

static int constructed, calls;

__attribute__((constructor)) static void construct(void)
{
    constructed++;
}

__attribute__((destructor)) static void destruct(void)
{
    printf("  needed library ends after %d calls\n", calls);
}

int needed_call(void);
int needed_call(void)
{
    return 10 * constructed + ++calls;
}
