{{/* Written after the documentation of Apache's operator; rendered and compared, never run. */}}
{{- define "slackwater.pipeline.apache" -}}
pyFiles: {{ .root.Values.pipeline.package }}/pipeline/{{ .job }}/__main__.py
driverArgs:
  {{- include (printf "slackwater.pipeline.%sArguments" .job) .root | nindent 2 }}
runtimeVersions:
  sparkVersion: 4.0.0
sparkConf:
  {{- include "slackwater.pipeline.sparkConf" .root | nindent 2 }}
  spark.kubernetes.authenticate.driver.serviceAccountName: {{ include "slackwater.pipeline.driver" .root }}
  spark.kubernetes.container.image: {{ include "slackwater.pipeline.image" .root | quote }}
  spark.kubernetes.container.image.pullPolicy: {{ .root.Values.pipeline.image.pullPolicy }}
  spark.executor.instances: {{ .root.Values.pipeline.executors | quote }}
driverSpec:
  podTemplateSpec: {{- include "slackwater.pipeline.sparkPod" (dict "root" .root "container" "spark-kubernetes-driver") | nindent 4 }}
executorSpec:
  podTemplateSpec: {{- include "slackwater.pipeline.sparkPod" (dict "root" .root "container" "spark-kubernetes-executor") | nindent 4 }}
{{- end }}
