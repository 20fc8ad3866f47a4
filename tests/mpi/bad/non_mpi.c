/* A dynamic executable without MPI; also built statically. */
#include <stdio.h>

int main(void)
{
    puts("the program has started");
    return 0;
}
