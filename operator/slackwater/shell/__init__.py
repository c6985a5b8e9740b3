"""The running operator: kopf handlers, the work queue, the reconcile loop."""
