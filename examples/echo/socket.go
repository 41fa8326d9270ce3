package main

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"syscall"
)

// queueLength is how many connections may wait to be accepted; the kernel lowers it to its own limit.
const queueLength = 4096

// listenTCP opens a non-blocking listening socket.
func listenTCP(addr netip.AddrPort) (fd int, err error) {
	family, sa := sockaddr(addr)
	fd, err = syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("listen on %v: %w", addr, os.NewSyscallError("socket", err))
	}
	err = bindAndListen(fd, sa)
	if err == nil {
		return fd, nil
	}
	_ = syscall.Close(fd)
	if errors.Is(err, syscall.EADDRINUSE) {
		return -1, fmt.Errorf("listen on %v: %w; choose another with -addr", addr, err)
	}
	return -1, fmt.Errorf("listen on %v: %w", addr, err)
}

func bindAndListen(fd int, sa syscall.Sockaddr) error {
	// Connections of an earlier run that linger in TIME_WAIT must not keep the port; a living listener still does.
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	// Accepted sockets inherit it: an answer shall not wait for the acknowledgement of the one before.
	if err := syscall.SetsockoptInt(fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(fd, sa); err != nil {
		return os.NewSyscallError("bind", err)
	}
	return os.NewSyscallError("listen", syscall.Listen(fd, queueLength))
}

// accept, read and write try once, on descriptors that do not block: EAGAIN means that the loop will say when to try
// again.

func accept(fd int) (conn int, err error) {
	conn, _, err = syscall.Accept4(fd, syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
	return conn, err
}

func read(fd int, p []byte) (n int, err error) { return uninterrupted(syscall.Read, fd, p) }

func write(fd int, p []byte) (n int, err error) { return uninterrupted(syscall.Write, fd, p) }

func uninterrupted(call func(int, []byte) (int, error), fd int, p []byte) (n int, err error) {
	for {
		n, err = call(fd, p)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}
