/*
 * A barrier over TCP: nobody goes on before all have come; who finds nobody, or waits for one who
 * does not come, goes on all the same; who does not have the key is not counted.
 */
#include "engine/meet.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

enum { OTHERS = 5, STRANGERS = 100, LONG_S = 600 };

/* This computer may have no address but this one. */
static int open_here(struct meet_address *at)
{
    int fd = meet_open(at);
    at->count = 1;
    at->ip[0] = htonl(INADDR_LOOPBACK);
    return fd;
}

/* Each writes a letter before and one after it; pipes of this size keep the order of writing. */
static void test_all(void)
{
    struct meet_address at;
    int fd = open_here(&at), ends[2], before = 0, is_ordered = 1;
    char letter;
    if (pipe(ends) != 0)
        return;
    for (int i = 0; i < OTHERS; i++)
        if (fork() == 0) {
            int wrote = write(ends[1], "a", 1) == 1;
            int met = meet_join(&at, LONG_S);
            wrote = wrote && write(ends[1], "b", 1) == 1;
            _exit(wrote && met ? 0 : 1);
        }
    ok(meet_lead(fd, &at, OTHERS, LONG_S) == OTHERS, "all have come");
    for (int i = 0; i < OTHERS; i++) {
        int status;
        wait(&status);
        ok(status == 0, "and gone");
    }
    for (int i = 0; i < 2 * OTHERS && read(ends[0], &letter, 1) == 1; i++) {
        before += letter == 'a';
        is_ordered &= letter == 'a' || before == OTHERS;
    }
    ok(before == OTHERS && is_ordered, "nobody went on before all had come");
}

static void test_missing(void)
{
    struct meet_address at, nowhere = {0};
    int fd = open_here(&at);
    ok(meet_lead(fd, &at, 1, 1) == 0, "nobody comes: it goes on");
    ok(!meet_join(&at, LONG_S), "nobody listens any more: it goes on");
    ok(!meet_join(&nowhere, LONG_S), "no address: it goes on");
}

static int connect_to(const struct meet_address *at)
{
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_port = at->port,
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return connect(fd, (struct sockaddr *)&in, sizeof in) == 0 ? fd : -1;
}

/* More strangers than there is room for come first: silent ones, and others with a wrong key. */
static void test_strangers(void)
{
    struct meet_address at, wrong;
    int fd = open_here(&at), status, all = 1;
    wrong = at;
    wrong.key[0] ^= 1;
    for (int i = 0; i < STRANGERS; i++)
        all &= connect_to(&at) >= 0;
    ok(all, "strangers have come");
    for (int i = 0; i < 2 * OTHERS; i++)
        if (fork() == 0) {
            close(fd); /* or it would still listen when the leader has ended */
            _exit(meet_join(i % 2 ? &wrong : &at, LONG_S) ? 0 : 1);
        }
    ok(meet_lead(fd, &at, OTHERS, LONG_S) == OTHERS, "only guests are counted, and all have come");
    for (int i = 0; i < 2 * OTHERS; i++)
        wait(&status);
    fd = open_here(&at);
    ok(connect_to(&at) >= 0 && meet_lead(fd, &at, 1, 1) == 0, "a stranger is no guest");
}

int main(void)
{
    plan_auto();
    test_all();
    test_missing();
    test_strangers();
    return done_testing();
}
