/*
 * sctp_absent.c - stands for the transport "sctp" where Orrery was built without usrsctp.
 */
#include "net/packet/packet_internal.h"

static int init(struct packet_net *n, const struct platform_config *c, struct err *err)
{
    (void)n, (void)c;
    return err_set(
        err, ERR_INPUT,
        "net.packet.transport: 'sctp' needs the library usrsctp 0.9.5, which was missing when "
        "Orrery was built: install libusrsctp-dev, and build again");
}

static const char *const uses[] = {PACKET_SCTP_USES, NULL};

const struct packet_transport_ops packet_sctp_ops = {.name = "sctp",
                                                     .uses = uses,
                                                     .stream_size = sizeof(struct packet_stream),
                                                     .init = init};
