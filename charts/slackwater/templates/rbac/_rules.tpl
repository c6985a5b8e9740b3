{{/* What the operator may do, in the whole cluster or in each namespace it watches: what it calls and no more. */}}
{{- define "slackwater.rules" -}}
- apiGroups: [slackwater.dev]
  resources: [consumergroups]
  verbs: [get, list, watch, patch]  # patch: the finalizer
- apiGroups: [slackwater.dev]
  resources: [consumergroups/status]
  verbs: [patch]
- apiGroups: [slackwater.dev]
  # Only where the admission plugin OwnerReferencesPermissionEnforcement is on: what we make blocks its owner's deletion.
  resources: [consumergroups/finalizers]
  verbs: [update]
- apiGroups: [slackwater.dev]
  resources: [kafkaconnections]
  verbs: [get, list, watch]
- apiGroups: [slackwater.dev]
  resources: [kafkaconnections/status]
  verbs: [patch]
- apiGroups: [slackwater.dev]
  resources: [consumerfleets, fleetcampaigns]
  verbs: [list, watch]
- apiGroups: [slackwater.dev]
  resources: [consumerfleets/status, fleetcampaigns/status]
  verbs: [patch]
{{- if not .Values.watchNamespaces }}
- apiGroups: [slackwater.dev]
  resources: [clusterkafkaconnections]
  verbs: [get, list, watch]
- apiGroups: [slackwater.dev]
  resources: [clusterkafkaconnections/status]
  verbs: [patch]
{{- end }}
# Server-side apply is a patch, and a create where there was nothing.
- apiGroups: [apps]
  resources: [statefulsets]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [apps]
  resources: [controllerrevisions]
  verbs: [get]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [services]
  verbs: [list, watch, create, patch]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, delete]  # get: one that has the name of ours, and not its labels
- apiGroups: [""]
  resources: [pods/status]
  verbs: [patch]  # the readiness gate slackwater.dev/rejoined
- apiGroups: [""]
  resources: [events]
  verbs: [create, list]  # list: why a StatefulSet's pod could not be made
{{- if or .Values.anySecret .Values.secretNames }}
- apiGroups: [""]
  # A connection's credentials, by the name that it gives: never listed, never watched (docs/facts.md, F27).
  resources: [secrets]
  {{- if not .Values.anySecret }}
  resourceNames: {{- toYaml .Values.secretNames | nindent 4 }}
  {{- end }}
  verbs: [get]
{{- end }}
{{- end }}

{{/* The same of fleets and their campaigns, for the operator's own namespace, where those for several namespaces are. */}}
{{- define "slackwater.fleetRules" -}}
- apiGroups: [slackwater.dev]
  resources: [consumerfleets, fleetcampaigns]
  verbs: [list, watch]
- apiGroups: [slackwater.dev]
  resources: [consumerfleets/status, fleetcampaigns/status]
  verbs: [patch]
{{- end }}

{{/* What a namespace that is being deleted still needs of the operator when the Role in it is gone (docs/facts.md, F52). */}}
{{- define "slackwater.finalizerRules" -}}
- apiGroups: [slackwater.dev]
  resources: [consumergroups]
  verbs: [get, list, patch]  # list: an operator that starts does not know them; patch: the finalizer
{{- end }}

{{/* Of the one Lease of this release. */}}
{{- define "slackwater.leaderRules" -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ include "slackwater.nameOf" (list . "leader") }}]
  verbs: [get, patch]
{{- end }}

{{/* Who a token is, and whether that account may read /metrics: questions, put as objects. */}}
{{- define "slackwater.metricsRules" -}}
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}

{{/* One role, and who has it: (dict "root" $ "name" "…" "namespace" "" "rules" "…"). Without a namespace: everywhere. */}}
{{- define "slackwater.role" -}}
{{- $scope := ternary "Role" "ClusterRole" (not (empty .namespace)) }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $scope }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "slackwater.labels" .root | nindent 4 }}
rules: {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $scope }}Binding
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels: {{- include "slackwater.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $scope }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "slackwater.serviceAccount" .root }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}
