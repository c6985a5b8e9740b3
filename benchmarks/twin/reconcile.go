package main

import (
	"context"
	"fmt"
	"sync/atomic"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	ofGroup      = "group"
	ofConnection = "connection"
)

// Twin reconciles ConsumerGroups. What it reads comes from caches; what is right is not written.
type Twin struct {
	client.Client
	writes atomic.Int64
}

// Reconcile is one pass.
func (t *Twin) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	group := &ConsumerGroup{}
	if err := t.Get(ctx, request.NamespacedName, group); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !group.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, t.setFinalizer(ctx, group, controllerutil.RemoveFinalizer)
	}
	if !controllerutil.ContainsFinalizer(group, finalizer) {
		return ctrl.Result{}, t.setFinalizer(ctx, group, controllerutil.AddFinalizer)
	}
	connection := &KafkaConnection{}
	name := client.ObjectKey{Namespace: group.Namespace, Name: group.Spec.ConnectionRef.Name}
	if err := t.Get(ctx, name, connection); err != nil {
		return ctrl.Result{}, err
	}
	live, err := t.objects(ctx, group, connection)
	if err != nil {
		return ctrl.Result{}, err
	}
	pods := &corev1.PodList{}
	if err := t.List(ctx, pods, client.InNamespace(group.Namespace), client.MatchingFields{ofGroup: group.Name}); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, t.report(ctx, group, live, pods.Items)
}

func (t *Twin) setFinalizer(ctx context.Context, group *ConsumerGroup, change func(client.Object, string) bool) error {
	before := group.DeepCopyObject().(*ConsumerGroup)
	if !change(group, finalizer) {
		return nil
	}
	t.writes.Add(1)
	return client.IgnoreNotFound(t.Patch(ctx, group, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// objects puts right what is missing or differs, and returns the StatefulSet as it is.
func (t *Twin) objects(ctx context.Context, group *ConsumerGroup, connection *KafkaConnection) (*appsv1.StatefulSet, error) {
	service, liveService := headlessService(group), &corev1.Service{}
	if err := t.putRight(ctx, service, liveService, func() bool {
		return equality.Semantic.DeepDerivative(service.Spec, liveService.Spec)
	}); err != nil {
		return nil, err
	}
	budget, liveBudget := disruptionBudget(group), &policyv1.PodDisruptionBudget{}
	if err := t.putRight(ctx, budget, liveBudget, func() bool {
		return equality.Semantic.DeepDerivative(budget.Spec, liveBudget.Spec)
	}); err != nil {
		return nil, err
	}
	set, err := statefulSet(group, connection.Spec.BootstrapServers)
	if err != nil {
		return nil, err
	}
	live := &appsv1.StatefulSet{}
	err = t.putRight(ctx, set, live, func() bool {
		return equality.Semantic.DeepDerivative(set.Spec, live.Spec)
	})
	return live, err
}

// putRight reads into live, and applies what is wanted where that does not hold it.
func (t *Twin) putRight(ctx context.Context, wanted, live client.Object, holds func() bool) error {
	err := t.Get(ctx, client.ObjectKeyFromObject(wanted), live)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	if err == nil && holds() && equality.Semantic.DeepDerivative(wanted.GetLabels(), live.GetLabels()) &&
		equality.Semantic.DeepDerivative(wanted.GetOwnerReferences(), live.GetOwnerReferences()) {
		return nil
	}
	manifest, err := applied(wanted)
	if err != nil {
		return err
	}
	options := []client.ApplyOption{client.FieldOwner(fieldManager)}
	if live.GetResourceVersion() != "" {
		options = append(options, client.ForceOwnership)
		if _, is := wanted.(*appsv1.StatefulSet); is {
			manifest.SetResourceVersion(live.GetResourceVersion())
		}
	}
	t.writes.Add(1)
	return t.Apply(ctx, client.ApplyConfigurationFromUnstructured(manifest), options...)
}

// applied has the fields that we set, and no more: of a StatefulSet both names of the service account too, empty where
// there is none, as ours has them.
func applied(wanted client.Object) (*unstructured.Unstructured, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wanted)
	if err != nil {
		return nil, err
	}
	delete(object, "status")
	if set, is := wanted.(*appsv1.StatefulSet); is {
		account := set.Spec.Template.Spec.ServiceAccountName
		for _, name := range []string{"serviceAccountName", "serviceAccount"} {
			if err := unstructured.SetNestedField(object, account, "spec", "template", "spec", name); err != nil {
				return nil, err
			}
		}
	}
	if _, is := wanted.(*corev1.Service); is {
		if err := unstructured.SetNestedField(object, true, "spec", "publishNotReadyAddresses"); err != nil {
			return nil, err
		}
	}
	return &unstructured.Unstructured{Object: object}, nil
}

// report writes the status where it changed, on exactly the version that was read.
func (t *Twin) report(ctx context.Context, group *ConsumerGroup, set *appsv1.StatefulSet, pods []corev1.Pod) error {
	status := group.Status.deepCopy()
	status.ObservedGeneration = group.Generation
	status.Selector = groupLabel + "=" + group.Name
	status.Replicas, status.ReadyReplicas, status.UpdatedReplicas = int32(len(pods)), 0, 0
	for i := range pods {
		if isReady(&pods[i]) {
			status.ReadyReplicas++
		}
		if pods[i].Labels[appsv1.ControllerRevisionHashLabelKey] == set.Status.UpdateRevision {
			status.UpdatedReplicas++
		}
	}
	complete := status.ReadyReplicas == group.Spec.Replicas && status.UpdatedReplicas == group.Spec.Replicas
	status.Phase = "Progressing"
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "PodsMissing"}
	progressing := metav1.Condition{Type: "Progressing", Status: metav1.ConditionTrue, Reason: "PodsMissing"}
	ready.Message = fmt.Sprintf("%d of %d pods are Ready", status.ReadyReplicas, group.Spec.Replicas)
	if complete {
		status.Phase = "Ready"
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, "AsWanted", "every pod is Ready"
		progressing.Status, progressing.Reason = metav1.ConditionFalse, "RolloutComplete"
	}
	for _, condition := range []metav1.Condition{ready, progressing} {
		condition.ObservedGeneration = group.Generation
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	if equality.Semantic.DeepEqual(status, &group.Status) {
		return nil
	}
	return t.writeStatus(ctx, group, status)
}

func (t *Twin) writeStatus(ctx context.Context, group *ConsumerGroup, status *ConsumerGroupStatus) error {
	values, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		return err
	}
	manifest := &unstructured.Unstructured{Object: map[string]any{"status": values}}
	manifest.SetGroupVersionKind(groupVersion.WithKind("ConsumerGroup"))
	manifest.SetNamespace(group.Namespace)
	manifest.SetName(group.Name)
	manifest.SetUID(group.UID)
	manifest.SetResourceVersion(group.ResourceVersion)
	t.writes.Add(1)
	err = t.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(manifest), client.FieldOwner(fieldManager), client.ForceOwnership)
	if apierrors.IsConflict(err) {
		return nil // the watch brings the version that is newer, and with it another pass
	}
	return client.IgnoreNotFound(err)
}

func isReady(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.PodReady {
			return pod.Status.Conditions[i].Status == corev1.ConditionTrue
		}
	}
	return false
}
