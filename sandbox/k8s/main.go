// Command k8s is every process of the sandbox's Kubernetes in one binary: the first argument names the
// component, the rest are that component's own flags.
//
// One binary instead of six, because the components share most of their code: it links once and weighs 135 MB
// instead of about 600 (FACTS F28).
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	_ "time/tzdata" // CronJobs may name a time zone, and the machine may have no zone files.

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// A component's command is built only when it is asked for: building one registers its flags and feature gates in
// registries that are global to the process.
var components = map[string]func() *cobra.Command{
	"kube-apiserver":          apiserver.NewAPIServerCommand,
	"kube-controller-manager": controllermanager.NewControllerManagerCommand,
	"kube-proxy":              proxy.NewProxyCommand,
	"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	"kubelet":                 func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) },
}

func main() {
	if len(os.Args) < 2 {
		usage()
	}
	name := os.Args[1]
	// The components read os.Args themselves; they must see their own name first.
	os.Args = append([]string{name}, os.Args[2:]...)
	switch name {
	case "etcd":
		etcdmain.Main(os.Args)
		return
	case "node-init":
		if err := nodeInit(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "node-init:", err)
			os.Exit(1)
		}
		return
	}
	build, known := components[name]
	if !known {
		usage()
	}
	os.Exit(cli.Run(build()))
}

func usage() {
	fmt.Fprintf(os.Stderr, "usage: %s etcd|node-init", filepath.Base(os.Args[0]))
	for name := range components {
		fmt.Fprintf(os.Stderr, "|%s", name)
	}
	fmt.Fprintln(os.Stderr, " [flags]")
	os.Exit(2)
}
