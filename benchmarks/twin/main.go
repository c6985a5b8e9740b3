// Twin is what Slackwater is measured beside: a controller of ConsumerGroups by controller-runtime that makes the same
// StatefulSet, Service and PodDisruptionBudget by the same server-side applies, with a finalizer, and writes a status
// where it changed. It decides nothing about rollouts, and knows no Kafka.
//
// `python -m benchmarks scale` builds and runs it where Go is there.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const workers = 16

func main() {
	server := flag.String("server", "", "the API server, http://HOST:PORT")
	address := flag.String("control", "", "HOST:PORT where the benchmark asks")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	if err := run(ctrl.SetupSignalHandler(), *server, *address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, server, address string) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, addToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	ours, err := labels.NewRequirement(groupLabel, "exists", nil)
	if err != nil {
		return err
	}
	labelled := cache.ByObject{Label: labels.NewSelector().Add(*ours)}
	// JSON, since the benchmark's API server speaks nothing else; no limit of our own on requests.
	config := &rest.Config{Host: server, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON}}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject: map[client.Object]cache.ByObject{
				&appsv1.StatefulSet{}:           labelled,
				&corev1.Service{}:               labelled,
				&corev1.Pod{}:                   labelled,
				&policyv1.PodDisruptionBudget{}: labelled,
			},
		},
	})
	if err != nil {
		return err
	}
	twin := &Twin{Client: manager.GetClient()}
	if err := watch(ctx, manager, twin); err != nil {
		return err
	}
	go func() {
		_ = http.ListenAndServe(address, control(twin, manager.GetCache().WaitForCacheSync))
	}()
	return manager.Start(ctx)
}

// watch asks for a pass over a group when it, one of its objects, or its connection changes.
func watch(ctx context.Context, manager ctrl.Manager, twin *Twin) error {
	index := manager.GetFieldIndexer()
	if err := index.IndexField(ctx, &corev1.Pod{}, ofGroup, func(pod client.Object) []string {
		return []string{pod.GetLabels()[groupLabel]}
	}); err != nil {
		return err
	}
	if err := index.IndexField(ctx, &ConsumerGroup{}, ofConnection, func(group client.Object) []string {
		return []string{group.(*ConsumerGroup).Spec.ConnectionRef.Name}
	}); err != nil {
		return err
	}
	byLabel := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, pod client.Object) []reconcile.Request {
		name := types.NamespacedName{Namespace: pod.GetNamespace(), Name: pod.GetLabels()[groupLabel]}
		return []reconcile.Request{{NamespacedName: name}}
	})
	ofIt := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, connection client.Object) []reconcile.Request {
		groups := &ConsumerGroupList{}
		where := []client.ListOption{client.InNamespace(connection.GetNamespace()), client.MatchingFields{ofConnection: connection.GetName()}}
		if err := twin.List(ctx, groups, where...); err != nil {
			return nil
		}
		requests := make([]reconcile.Request, 0, len(groups.Items))
		for i := range groups.Items {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&groups.Items[i])})
		}
		return requests
	})
	return ctrl.NewControllerManagedBy(manager).
		For(&ConsumerGroup{}).
		Owns(&appsv1.StatefulSet{}).
		Owns(&corev1.Service{}).
		Owns(&policyv1.PodDisruptionBudget{}).
		Watches(&corev1.Pod{}, byLabel).
		Watches(&KafkaConnection{}, ofIt).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(twin)
}
