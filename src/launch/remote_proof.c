/*
 * remote_proof.c - sets up connections, and proves that a side has the key (remote_internal.h).
 */
#define _GNU_SOURCE 1
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "launch/remote_internal.h"

/* A computer that does not answer for that long is lost. */
#define SILENT_S 5
#define PROBE_S 1
#define PROBES 5

void remote_set_up(int fd)
{
    const struct {
        int level, name, value;
    } options[] = {{IPPROTO_TCP, TCP_NODELAY, 1},
                   {SOL_SOCKET, SO_KEEPALIVE, 1},
                   {IPPROTO_TCP, TCP_KEEPIDLE, SILENT_S},
                   {IPPROTO_TCP, TCP_KEEPINTVL, PROBE_S},
                   {IPPROTO_TCP, TCP_KEEPCNT, PROBES},
                   {IPPROTO_TCP, TCP_USER_TIMEOUT, (SILENT_S + PROBE_S * PROBES) * 1000}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                   sizeof options[i].value);
}

/* All that is proven; neither struct has gaps. */
struct said {
    uint64_t is_answer;
    struct remote_hello hello;
    struct remote_greeting greeting;
};
_Static_assert(sizeof(struct remote_hello) == 24 + REMOTE_NONCE + SIPHASH_BYTES, "no gaps");
_Static_assert(sizeof(struct remote_greeting) == 4 + REMOTE_NONCE, "no gaps");

static void prove(const unsigned char *key, struct said *s, unsigned char *proof)
{
    siphash(key, s, offsetof(struct said, greeting) + sizeof s->greeting, proof);
}

void remote_prove_hello(const unsigned char *key, const struct remote_greeting *greeting,
                        const struct remote_hello *hello, unsigned char *proof)
{
    struct said s = {.is_answer = 0, .hello = *hello, .greeting = *greeting};
    memset(s.hello.proof, 0, sizeof s.hello.proof);
    prove(key, &s, proof);
}

void remote_prove_answer(const unsigned char *key, const struct remote_greeting *greeting,
                         const struct remote_hello *hello, unsigned char *proof)
{
    struct said s = {.is_answer = 1, .hello = *hello, .greeting = *greeting};
    prove(key, &s, proof);
}

int remote_is_proof(const unsigned char *a, const unsigned char *b)
{
    unsigned char differs = 0;
    for (int i = 0; i < SIPHASH_BYTES; i++)
        differs |= a[i] ^ b[i];
    return !differs;
}
