{{/* What the `restricted` pod security standard asks of a pod. */}}
{{- define "slackwater.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* The same, of each of its containers; and a file system that nothing is written to. */}}
{{- define "slackwater.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
