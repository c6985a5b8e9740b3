package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
)

const passesAtATime = 20

// Found is what a round of passes took.
type Found struct {
	Passes     int     `json:"passes"`
	CPUSeconds float64 `json:"cpu_seconds"`
	Writes     int64   `json:"writes"`
}

// control is how the benchmark asks: whether the caches are filled, and for passes over a group at rest.
func control(twin *Twin, synced func(context.Context) bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if !synced(r.Context()) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("POST /noop", func(w http.ResponseWriter, r *http.Request) {
		seconds, err := strconv.ParseFloat(r.URL.Query().Get("seconds"), 64)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		name := types.NamespacedName{Namespace: r.URL.Query().Get("namespace"), Name: r.URL.Query().Get("name")}
		found, err := noop(r.Context(), twin, name, seconds)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(found)
	})
	return mux
}

// noop makes passes one after the other for so much CPU time of the whole process, its collector's too.
func noop(ctx context.Context, twin *Twin, name types.NamespacedName, seconds float64) (Found, error) {
	if err := twin.Get(ctx, name, &ConsumerGroup{}); err != nil {
		return Found{}, fmt.Errorf("no group to pass over: %w", err)
	}
	writes, began, passes := twin.writes.Load(), cpu(), 0
	for cpu()-began < time.Duration(seconds*float64(time.Second)) {
		for range passesAtATime {
			if _, err := twin.Reconcile(ctx, ctrl.Request{NamespacedName: name}); err != nil {
				return Found{}, err
			}
		}
		passes += passesAtATime
	}
	return Found{passes, (cpu() - began).Seconds(), twin.writes.Load() - writes}, nil
}

func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
