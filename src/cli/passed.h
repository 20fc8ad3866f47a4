/*
 * passed.h - options that commands which become an `orrery run` pass on to it, with their lines in
 * the help.
 */
#ifndef CLI_PASSED_H
#define CLI_PASSED_H

#include "cli/argv.h"
#include "cli/options.h"

/* Defines the `set` of an option that is added to the command line `member` of a struct. */
#define CLI_PASS(function, option, type, member)                        \
    static int function(void *into, const char *value, struct err *err) \
    {                                                                   \
        (void)err;                                                      \
        cli_argv_pass(&((type *)into)->member, option, value);          \
        return 0;                                                       \
    }

// clang-format off
/* Changes of the machine. */
#define CLI_PASS_MACHINE(type, member) \
    CLI_PASS(set_settings, "--set", type, member) \
    CLI_PASS(set_collectives, "--collectives", type, member)
#define CLI_PASSED_MACHINE \
    {"set", 's', NULL, "KEY=VALUE", "change a setting of the machine", set_settings}, \
    {"collectives", 0, NULL, "WHICH", "algorithms or model, as in 'orrery run'", set_collectives}

/* What is recorded of packets. */
#define CLI_PASS_PACKETS(type, member) \
    CLI_PASS(set_pcap, "--pcap", type, member) \
    CLI_PASS(set_pcap_at, "--pcap-at", type, member) \
    CLI_PASS(set_vectors, "--vectors", type, member) \
    CLI_PASS(set_vectors_at, "--vectors-at", type, member)
#define CLI_PASSED_PACKETS \
    {"pcap", 0, NULL, "DIR", "write packets to pcap files, as 'orrery run' does", set_pcap}, \
    {"pcap-at", 0, NULL, "LIST", "with --pcap: where packets are captured", set_pcap_at}, \
    {"vectors", 0, NULL, "FILE", "write queues and windows over time", set_vectors}, \
    {"vectors-at", 0, NULL, "LIST", "which of them, as in 'orrery run'", set_vectors_at}
// clang-format on

#endif
