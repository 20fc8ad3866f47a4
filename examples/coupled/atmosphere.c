/*
 * The atmosphere above an ocean: little heat, and three times the work in each column.
 */
#include "coupling.h"

int main(int argc, char **argv)
{
    return run(ATMOSPHERE, argc, argv);
}
