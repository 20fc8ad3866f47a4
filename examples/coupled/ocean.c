/*
 * An ocean, which warms and cools slowly. Start it together with an atmosphere:
 *
 *     orrery run -n 3 ./ocean : -n 9 ./atmosphere
 */
#include "coupling.h"

int main(int argc, char **argv)
{
    return run(OCEAN, argc, argv);
}
