package main

import (
	"errors"
	"net/netip"
	"syscall"
)

// parseAddr takes literals only: to look up a name would block the loop's goroutine.
func parseAddr(text string) (netip.AddrPort, error) {
	addr, err := netip.ParseAddrPort(text)
	if err != nil {
		return addr, errors.New("want an IP address and a port, like 127.0.0.1:7007 or [::1]:7007")
	}
	if addr.Addr().Zone() != "" {
		return addr, errors.New("an address with a zone is not supported")
	}
	return addr, nil
}

// sockaddr is addr as the kernel wants it, with the family of sockets that it belongs to.
func sockaddr(addr netip.AddrPort) (family int, sa syscall.Sockaddr) {
	if addr.Addr().Is4() {
		return syscall.AF_INET, &syscall.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}
	}
	return syscall.AF_INET6, &syscall.SockaddrInet6{Port: int(addr.Port()), Addr: addr.Addr().As16()}
}

// boundAddr is the address that a socket really has: the kernel chose the port when 0 was asked for.
func boundAddr(fd int) (netip.AddrPort, error) {
	sa, err := syscall.Getsockname(fd)
	if err != nil {
		return netip.AddrPort{}, err
	}
	switch sa := sa.(type) {
	case *syscall.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port)), nil
	case *syscall.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port)), nil
	}
	return netip.AddrPort{}, syscall.EAFNOSUPPORT
}
