/*
 * passed.h - options that commands which become an `orrery run` pass on to it.
 */
#ifndef CLI_PASSED_H
#define CLI_PASSED_H

#include "cli/shared.h"
#include "launch/argv.h"

/* Defines the `set` of an option that is added to the command line `member` of a struct. */
#define CLI_PASS(function, option, type, member)                        \
    static int function(void *into, const char *value, struct err *err) \
    {                                                                   \
        (void)err;                                                      \
        launch_argv_pass(&((type *)into)->member, option, value);       \
        return 0;                                                       \
    }

// clang-format off
/* Changes of the machine. */
#define CLI_PASS_MACHINE(type, member) \
    CLI_PASS(set_settings, "--set", type, member) \
    CLI_PASS(set_collectives, "--collectives", type, member)
#define CLI_PASSED_MACHINE \
    {CLI_SHARED_SET, set_settings}, \
    {CLI_SHARED_COLLECTIVES, set_collectives}

/* What is recorded of packets. */
#define CLI_PASS_PACKETS(type, member) \
    CLI_PASS(set_pcap, "--pcap", type, member) \
    CLI_PASS(set_pcap_at, "--pcap-at", type, member) \
    CLI_PASS(set_vectors, "--vectors", type, member) \
    CLI_PASS(set_vectors_at, "--vectors-at", type, member)
#define CLI_PASSED_PACKETS \
    {CLI_SHARED_PCAP, set_pcap}, \
    {CLI_SHARED_PCAP_AT, set_pcap_at}, \
    {CLI_SHARED_VECTORS, set_vectors}, \
    {CLI_SHARED_VECTORS_AT, set_vectors_at}
// clang-format on

#endif
