package main

import (
	"net/http"
	"sync/atomic"
	"time"
)

// health answers /livez, which fails when the loop stands still, and /readyz, which fails before the first poll and
// after the consumer was fenced or asked to stop.
type health struct {
	patience time.Duration
	turned   atomic.Int64
	ready    atomic.Bool
}

func (h *health) turn() { h.turned.Store(time.Now().UnixNano()) }

func (h *health) serve(address string) error {
	h.turn()
	answer := func(ok func() bool) http.HandlerFunc {
		return func(to http.ResponseWriter, _ *http.Request) {
			if !ok() {
				to.WriteHeader(http.StatusServiceUnavailable)
			}
		}
	}
	routes := http.NewServeMux()
	routes.HandleFunc("/livez", answer(func() bool { return time.Since(time.Unix(0, h.turned.Load())) < h.patience }))
	routes.HandleFunc("/readyz", answer(h.ready.Load))
	return http.ListenAndServe(address, routes)
}
