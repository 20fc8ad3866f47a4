/*
 * dumbbell_ns3.cc - the dumbbell of packets.py in ns-3: TCP flows from left to right over one slow
 * link, with the settings that Orrery has.
 *
 *     dumbbell_ns3 FLOWS MBPS MILLISECONDS QUEUE SECONDS
 *
 * The slow link has MBPS, a delay of so many MILLISECONDS and a queue of QUEUE bytes; those of hosts
 * are ten times as fast and have a tenth of the delay. Prints the number of packets that links
 * carried, and then the bytes that the slow link carried from left to right in each of 100 parts of
 * the time, without those of packets that only acknowledge.
 */
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

constexpr int kWindows = 100;
constexpr uint32_t kAcknowledgement = 100; // a packet of fewer bytes has no data
constexpr uint16_t kPort = 5000;

uint64_t hops;
uint64_t carried[kWindows];
double window_seconds;

void CountHop(Ptr<const Packet>)
{
    hops++;
}

void CountBytes(Ptr<const Packet> packet)
{
    auto at = static_cast<int>(Simulator::Now().GetSeconds() / window_seconds);

    if (packet->GetSize() > kAcknowledgement && at < kWindows)
        carried[at] += packet->GetSize();
}

/* As Orrery and Linux have them. */
void SetDefaults()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
}

PointToPointHelper Link(double mbps, double ms, const std::string &queue)
{
    PointToPointHelper link;

    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(mbps * 1e6))));
    link.SetChannelAttribute("Delay", TimeValue(MicroSeconds(static_cast<uint64_t>(ms * 1e3))));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(queue));
    return link;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 6) {
        std::fprintf(stderr, "usage: dumbbell_ns3 FLOWS MBPS MILLISECONDS QUEUE SECONDS\n");
        return 2;
    }
    int flows = std::atoi(argv[1]);
    double mbps = std::atof(argv[2]), ms = std::atof(argv[3]), seconds = std::atof(argv[5]);

    window_seconds = seconds / kWindows;
    SetDefaults();
    NodeContainer routers, left, right;
    routers.Create(2);
    left.Create(flows);
    right.Create(flows);
    InternetStackHelper stack;
    stack.InstallAll();
    PointToPointHelper slow = Link(mbps, ms, std::string(argv[4]) + "B");
    PointToPointHelper fast = Link(10 * mbps, ms / 10, "100000p");
    std::vector<NetDeviceContainer> links{slow.Install(routers)};
    for (int i = 0; i < flows; i++) {
        links.push_back(fast.Install(left.Get(i), routers.Get(0)));
        links.push_back(fast.Install(routers.Get(1), right.Get(i)));
    }
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    TrafficControlHelper control;
    std::vector<Ipv4InterfaceContainer> interfaces;
    for (auto &link : links) {
        interfaces.push_back(addresses.Assign(link));
        control.Uninstall(link); // only the queues of devices
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    for (int i = 0; i < flows; i++) {
        Ipv4Address to = interfaces[2 + 2 * i].GetAddress(1);
        BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(to, kPort));
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), kPort));

        sender.SetAttribute("SendSize", UintegerValue(65536));
        sender.Install(left.Get(i)).Start(Seconds(0));
        sink.Install(right.Get(i)).Start(Seconds(0));
    }
    Config::ConnectWithoutContext("/NodeList/*/DeviceList/*/$ns3::PointToPointNetDevice/PhyTxEnd",
                                  MakeCallback(&CountHop));
    links[0].Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&CountBytes));
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::printf("%llu\n", static_cast<unsigned long long>(hops));
    for (uint64_t bytes : carried)
        std::printf("%llu\n", static_cast<unsigned long long>(bytes));
    Simulator::Destroy();
    return 0;
}
