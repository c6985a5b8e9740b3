package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// What slackwater.core.manifests makes of a group of librdkafka's static members that names no protocol and no
// timeouts; `python -m benchmarks scale` compares the two, field by field. The digest alone is another one.

const ordinal = "SLACKWATER_ORDINAL"

func selector(group *ConsumerGroup) map[string]string {
	return map[string]string{groupLabel: group.Name}
}

func metadata(group *ConsumerGroup) metav1.ObjectMeta {
	labels := selector(group)
	labels["app.kubernetes.io/managed-by"] = "slackwater"
	return metav1.ObjectMeta{
		Name:      group.Name,
		Namespace: group.Namespace,
		Labels:    labels,
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion:         groupVersion.String(),
			Kind:               "ConsumerGroup",
			Name:               group.Name,
			UID:                group.UID,
			Controller:         ptr.To(true),
			BlockOwnerDeletion: ptr.To(true),
		}},
	}
}

func statefulSet(group *ConsumerGroup, bootstrapServers string) (*appsv1.StatefulSet, error) {
	template, err := podTemplate(group, bootstrapServers)
	if err != nil {
		return nil, err
	}
	return &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metadata(group),
		Spec: appsv1.StatefulSetSpec{
			Replicas:             ptr.To(group.Spec.Replicas),
			Ordinals:             &appsv1.StatefulSetOrdinals{Start: 0},
			ServiceName:          group.Name,
			PodManagementPolicy:  appsv1.ParallelPodManagement,
			RevisionHistoryLimit: ptr.To(int32(10)),
			Selector:             &metav1.LabelSelector{MatchLabels: selector(group)},
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{
				Type:          appsv1.RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: ptr.To(group.Spec.Replicas)},
			},
			Template: *template,
		},
	}, nil
}

func headlessService(group *ConsumerGroup) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metadata(group),
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			PublishNotReadyAddresses: true,
			Selector:                 selector(group),
		},
	}
}

func disruptionBudget(group *ConsumerGroup) *policyv1.PodDisruptionBudget {
	most, policy := intstr.FromInt32(1), policyv1.AlwaysAllow
	if asked := group.Spec.DisruptionBudget; asked != nil {
		if asked.MaxUnavailable != nil {
			most = *asked.MaxUnavailable
		}
		if asked.UnhealthyPodEvictionPolicy != "" {
			policy = asked.UnhealthyPodEvictionPolicy
		}
	}
	return &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: metadata(group),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MaxUnavailable:             &most,
			Selector:                   &metav1.LabelSelector{MatchLabels: selector(group)},
			UnhealthyPodEvictionPolicy: &policy,
		},
	}
}

// podTemplate is the user's, with the client settings, our label, and the digest of it all.
func podTemplate(group *ConsumerGroup, bootstrapServers string) (*corev1.PodTemplateSpec, error) {
	template := group.Spec.Template.DeepCopy()
	template.Labels = with(template.Labels, selector(group))
	template.Annotations = with(template.Annotations, map[string]string{protocol: ""})
	if template.Spec.EnableServiceLinks == nil {
		template.Spec.EnableServiceLinks = ptr.To(false)
	}
	if len(template.Spec.Containers) == 0 {
		return nil, fmt.Errorf("%s has no container", group.Name)
	}
	container, ours := &template.Spec.Containers[0], settings(group, bootstrapServers)
	names := map[string]bool{}
	for _, variable := range ours {
		names[variable.Name] = true
	}
	var env []corev1.EnvVar
	for _, variable := range container.Env {
		if !names[variable.Name] {
			env = append(env, variable)
		}
	}
	container.Env = append(env, ours...)
	text, err := json.Marshal(template)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(text)
	template.Annotations[templateHash] = hex.EncodeToString(digest[:8])
	return template, nil
}

func settings(group *ConsumerGroup, bootstrapServers string) []corev1.EnvVar {
	return []corev1.EnvVar{
		{Name: "KAFKA_BOOTSTRAP_SERVERS", Value: bootstrapServers},
		{Name: "KAFKA_GROUP_ID", Value: group.Spec.GroupID},
		{Name: "KAFKA_MAX_POLL_INTERVAL_MS", Value: "300000"},
		{Name: "KAFKA_SESSION_TIMEOUT_MS", Value: "45000"},
		{Name: "KAFKA_HEARTBEAT_INTERVAL_MS", Value: "3000"},
		{Name: ordinal, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
			APIVersion: "v1",
			FieldPath:  "metadata.labels['apps.kubernetes.io/pod-index']",
		}}},
		{Name: "KAFKA_GROUP_INSTANCE_ID", Value: group.Name + "-$(" + ordinal + ")"},
	}
}

func with(values, more map[string]string) map[string]string {
	found := make(map[string]string, len(values)+len(more))
	maps.Copy(found, values)
	maps.Copy(found, more)
	return found
}
