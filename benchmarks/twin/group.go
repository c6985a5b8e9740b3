package main

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var groupVersion = schema.GroupVersion{Group: "slackwater.dev", Version: "v1alpha1"}

const (
	fieldManager = "slackwater"
	finalizer    = "slackwater.dev/members"
	groupLabel   = "slackwater.dev/group"
	templateHash = "slackwater.dev/template-hash"
	protocol     = "slackwater.dev/protocol"
)

// ConsumerGroup has what the benchmark's groups say: the rest of the real one is for rollouts, which the twin has not.
type ConsumerGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              ConsumerGroupSpec   `json:"spec"`
	Status            ConsumerGroupStatus `json:"status,omitempty"`
}

type ConsumerGroupSpec struct {
	GroupID          string                 `json:"groupId"`
	ConnectionRef    ConnectionRef          `json:"connectionRef"`
	Topics           []string               `json:"topics,omitempty"`
	Replicas         int32                  `json:"replicas"`
	Client           Client                 `json:"client"`
	Rollout          Rollout                `json:"rollout,omitempty"`
	DisruptionBudget *DisruptionBudget      `json:"disruptionBudget,omitempty"`
	Template         corev1.PodTemplateSpec `json:"template"`
}

type ConnectionRef struct {
	Name string `json:"name"`
}

type Client struct {
	Library string `json:"library"`
	Version string `json:"version,omitempty"`
}

type Rollout struct {
	StableFor string `json:"stableFor,omitempty"`
}

type DisruptionBudget struct {
	MaxUnavailable             *intstr.IntOrString                     `json:"maxUnavailable,omitempty"`
	UnhealthyPodEvictionPolicy policyv1.UnhealthyPodEvictionPolicyType `json:"unhealthyPodEvictionPolicy,omitempty"`
}

type ConsumerGroupStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Phase              string             `json:"phase,omitempty"`
	Replicas           int32              `json:"replicas"`
	ReadyReplicas      int32              `json:"readyReplicas"`
	UpdatedReplicas    int32              `json:"updatedReplicas"`
	Selector           string             `json:"selector,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type ConsumerGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []ConsumerGroup `json:"items"`
}

// KafkaConnection is asked for the brokers' address, which pods are given.
type KafkaConnection struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              KafkaConnectionSpec `json:"spec"`
}

type KafkaConnectionSpec struct {
	BootstrapServers string `json:"bootstrapServers"`
}

type KafkaConnectionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []KafkaConnection `json:"items"`
}

func addToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &ConsumerGroup{}, &ConsumerGroupList{}, &KafkaConnection{}, &KafkaConnectionList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
}

// What follows is what controller-gen would write.

func (in *ConsumerGroup) DeepCopyObject() runtime.Object {
	out := &ConsumerGroup{TypeMeta: in.TypeMeta}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec = *in.Spec.deepCopy()
	out.Status = *in.Status.deepCopy()
	return out
}

func (in *ConsumerGroupSpec) deepCopy() *ConsumerGroupSpec {
	out := *in
	out.Topics = append([]string(nil), in.Topics...)
	in.Template.DeepCopyInto(&out.Template)
	if in.DisruptionBudget != nil {
		budget := *in.DisruptionBudget
		if budget.MaxUnavailable != nil {
			most := *budget.MaxUnavailable
			budget.MaxUnavailable = &most
		}
		out.DisruptionBudget = &budget
	}
	return &out
}

func (in *ConsumerGroupStatus) deepCopy() *ConsumerGroupStatus {
	out := *in
	out.Conditions = append([]metav1.Condition(nil), in.Conditions...)
	return &out
}

func (in *ConsumerGroupList) DeepCopyObject() runtime.Object {
	out := &ConsumerGroupList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopyObject().(*ConsumerGroup))
	}
	return out
}

func (in *KafkaConnection) DeepCopyObject() runtime.Object {
	out := &KafkaConnection{TypeMeta: in.TypeMeta, Spec: in.Spec}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return out
}

func (in *KafkaConnectionList) DeepCopyObject() runtime.Object {
	out := &KafkaConnectionList{TypeMeta: in.TypeMeta}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopyObject().(*KafkaConnection))
	}
	return out
}
