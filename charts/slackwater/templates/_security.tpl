{{/* Of a pod; by default what the `restricted` pod security standard asks for. `null` takes a field away. */}}
{{- define "slackwater.podSecurity" -}}
{{ toYaml .Values.podSecurityContext }}
{{- end }}

{{/* The same, of each of its containers; and a file system that nothing is written to. */}}
{{- define "slackwater.containerSecurity" -}}
{{ toYaml .Values.securityContext }}
{{- end }}

{{/* Of a pod that writes to a volume: else a claim's is root's. */}}
{{- define "slackwater.podSecurityWithVolume" -}}
{{- $ours := dict }}
{{- with .Values.podSecurityContext.runAsGroup }}{{ $_ := set $ours "fsGroup" . }}{{ end }}
{{- toYaml (merge (deepCopy .Values.podSecurityContext) $ours) }}
{{- end }}
