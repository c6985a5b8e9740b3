{{/* The name of everything that is installed: the release's, with the chart's where the release does not say it. */}}
{{- define "slackwater.name" -}}
{{- $chart := .Values.nameOverride | default .Chart.Name }}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $chart .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name $chart | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* An image of the values: (list $ .Values.image). */}}
{{- define "slackwater.image" -}}
{{- $image := last . }}
{{- $name := printf "%s:%s" $image.repository ($image.tag | default (first .).Chart.AppVersion) }}
{{- with $image.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $name }}{{ with $image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* The same with a word behind it, in no more than 63 characters: (list $ "metrics"). */}}
{{- define "slackwater.nameOf" -}}
{{- $word := last . }}
{{- printf "%s-%s" (include "slackwater.name" (first .) | trunc (int (sub 62 (len $word))) | trimSuffix "-") $word }}
{{- end }}

{{- define "slackwater.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "slackwater.name" .) }}
{{- else }}{{ .Values.serviceAccount.name | required "serviceAccount.create is false: say in serviceAccount.name which one to use" }}{{ end }}
{{- end }}

{{/* `nameOverride` leaves these alone: `slackwater doctor` finds the operator by them. */}}
{{- define "slackwater.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "slackwater.labels" -}}
{{ include "slackwater.selector" . }}
{{ include "slackwater.origin" . }}
{{- end }}

{{/* The labels of what is no part of the operator's pod, such as the pipeline: its Service must not lead there. */}}
{{- define "slackwater.origin" -}}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* "true" where something is to be mounted at /data. */}}
{{- define "slackwater.hasData" -}}
{{- if or .Values.dataClaim (hasPrefix "file:" .Values.telemetry) (hasPrefix "file:" .Values.recommendations) }}true{{ end }}
{{- end }}
