/* Linked without the usual start of a library: nobody can tell when its constructor runs. */
static int constructed;

__attribute__((constructor)) static void construct(void)
{
    constructed++;
}

int early_call(void);
int early_call(void)
{
    return constructed;
}
