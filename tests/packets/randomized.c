/* Keeps `orrery run` from switching off the randomisation of addresses: preloaded by tests. */
int personality(unsigned long persona);

int personality(unsigned long persona)
{
    (void)persona;
    return -1;
}
