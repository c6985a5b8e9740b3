package main

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// nodeInit is process 1 of the node: it runs in mount and process namespaces of its own, which make the node's end
// simple. When this process dies, however it dies, the kernel ends every process of the node (containerd, its shims,
// the kubelet, all pods) and drops every mount that they made. It makes /proc show the node's processes, then does
// nothing but collect orphans.
//
// Each argument SOURCE:TARGET mounts the folder SOURCE over TARGET, for the few paths that the kubelet and the network
// plugins hard-code: so nothing of them is left on the machine.
func nodeInit(folders []string) error {
	// Mounts of the machine still come in, mounts of the node never go out.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("separating the node's mounts from the machine's: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting the node's /proc: %w", err)
	}
	for _, pair := range folders {
		source, target, ok := strings.Cut(pair, ":")
		if !ok {
			return fmt.Errorf("%q is not SOURCE:TARGET", pair)
		}
		if err := syscall.Mount(source, target, "", syscall.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting %s over %s: %w", source, target, err)
		}
	}
	// Inside the node, mounts must reach every container that shares them (the kubelet's volumes).
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, ""); err != nil {
		return fmt.Errorf("sharing the node's mounts among its containers: %w", err)
	}

	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGTERM, syscall.SIGINT)
	fmt.Println("node-init: ready")
	for received := range signals {
		if received != syscall.SIGCHLD {
			return nil
		}
		reapOrphans()
	}
	return nil
}

// reapOrphans collects every child that has ended: one SIGCHLD may stand for several.
func reapOrphans() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if pid <= 0 || err != nil {
			return
		}
	}
}
