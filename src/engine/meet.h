/*
 * meet.h - a barrier of processes on several machines that does not use MPI.
 *
 * Process 0 listens, all others connect to it, and when all have come, it closes the connections.
 * So nobody goes on before all are there. Should somebody not come, or not find process 0, they
 * go on after a while. Others are told where process 0 is together with a key; who does not have it
 * is not counted, and holds up nobody.
 */
#ifndef ENGINE_MEET_H
#define ENGINE_MEET_H

#include <stdint.h>

#define MEET_ADDRESSES 8
#define MEET_KEY 16

/* Where process 0 is: a port at one of some addresses, in network byte order. */
struct meet_address {
    uint32_t count;
    uint32_t ip[MEET_ADDRESSES];
    uint16_t port;
    unsigned char key[MEET_KEY];
};

/* Process 0: begins to listen, and says where. Returns a descriptor, or -1 with no addresses. */
int meet_open(struct meet_address *);

/* Process 0: waits for the others, at most some seconds for the next, and closes all connections
 * and the descriptor. Returns how many have connected. */
uint32_t meet_lead(int fd, const struct meet_address *, uint32_t others, unsigned seconds);

/* Others: connect, and wait, at most some seconds, until process 0 closes the connection. Returns 0
 * if process 0 is not there. */
int meet_join(const struct meet_address *, unsigned seconds);

#endif
