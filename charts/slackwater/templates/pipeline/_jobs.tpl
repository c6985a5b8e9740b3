{{/* What both jobs share, and the arguments of each, one a line. */}}


{{/* Not the operator's labels: neither its Service nor its disruption budget must find these pods. */}}
{{- define "slackwater.pipeline.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}-pipeline
app.kubernetes.io/instance: {{ .Release.Name }}
{{ include "slackwater.origin" . }}
{{- end }}

{{- define "slackwater.pipeline.image" -}}
{{ include "slackwater.image" (list . .Values.pipeline.image) }}
{{- end }}

{{- define "slackwater.pipeline.brokers" -}}
{{ .Values.pipeline.bootstrapServers | required "pipeline.enabled is true: say in pipeline.bootstrapServers which brokers have the topics" }}
{{- end }}

{{- define "slackwater.pipeline.driver" -}}
{{ .Values.pipeline.driverServiceAccount | required (printf "pipeline.kind is %s: say in pipeline.driverServiceAccount as whom the driver makes the executors' pods" .Values.pipeline.kind) }}
{{- end }}

{{- define "slackwater.pipeline.kafkaArguments" -}}
- --bootstrap-servers={{ include "slackwater.pipeline.brokers" . }}
{{- if .Values.pipeline.kafkaConfigSecret }}
- --kafka-config=/etc/slackwater/kafka/client.properties
{{- end }}
{{- end }}

{{- define "slackwater.pipeline.ingestArguments" -}}
- --lake={{ .Values.pipeline.lake }}
- --topic={{ .Values.pipeline.telemetryTopic }}
{{ include "slackwater.pipeline.kafkaArguments" . }}
{{- end }}

{{- define "slackwater.pipeline.recommendArguments" -}}
- --lake={{ .Values.pipeline.lake }}
- --out-topic={{ .Values.pipeline.recommendationsTopic }}
{{ include "slackwater.pipeline.kafkaArguments" . }}
{{- end }}

{{- define "slackwater.pipeline.mounts" -}}
- name: tmp
  mountPath: /tmp
{{- if .Values.pipeline.lakeClaim }}
- name: lake
  mountPath: /lake
{{- end }}
{{- if .Values.pipeline.kafkaConfigSecret }}
- name: kafka
  mountPath: /etc/slackwater/kafka
  readOnly: true
{{- end }}
{{- end }}

{{- define "slackwater.pipeline.volumes" -}}
- name: tmp
  emptyDir: {}
{{- with .Values.pipeline.lakeClaim }}
- name: lake
  persistentVolumeClaim:
    claimName: {{ . }}
{{- end }}
{{- with .Values.pipeline.kafkaConfigSecret }}
- name: kafka
  secret:
    secretName: {{ . }}
{{- end }}
{{- end }}

{{/* The pod of a driver or an executor, around the one container, whose name Spark's operators expect: (dict "root" $ "container" "…"). */}}
{{- define "slackwater.pipeline.sparkPod" -}}
metadata:
  labels: {{- include "slackwater.pipeline.labels" .root | nindent 4 }}
spec:
  securityContext: {{- include "slackwater.podSecurityWithVolume" .root | nindent 4 }}
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .container }}
      workingDir: /tmp
      env:
        - name: HOME
          value: /tmp
      securityContext: {{- include "slackwater.containerSecurity" .root | nindent 8 }}
      volumeMounts: {{- include "slackwater.pipeline.mounts" .root | nindent 8 }}
  volumes: {{- include "slackwater.pipeline.volumes" .root | nindent 4 }}
{{- end }}

{{- define "slackwater.pipeline.sparkConf" -}}
{{- toYaml (merge (dict) .Values.pipeline.sparkConf (dict "spark.sql.session.timeZone" "UTC")) }}
{{- end }}
